//! What a model learns.

use embeddings::Tables;
use optimizers::Parameter;
use vectors::Matrix;

/// The parameters of a model by their names, in an order of the model's own.
pub type NamedMatrices<'a> = Vec<(&'a str, &'a Matrix)>;

/// The parameters of a model, each with its name: a row for each user and for each item, and any number of others.
pub struct Parameters {
    /// `[users, dim]`, named `users`; without rows where a model makes vectors of users from something else.
    pub users: Parameter,
    /// `[items, dim]`, named `items`.
    pub items: Parameter,
    /// Those that all rows share, in an order of the model's own.
    pub weights: Vec<Parameter>,
}

impl Parameters {
    /// Makes parameters with moments of zero; all rows move in every step.
    pub fn new(Tables { users, items }: Tables, weights: Vec<(String, Matrix)>) -> Self {
        let weights = weights.into_iter().map(|(name, values)| Parameter::new(name, values));
        Self { users: Parameter::new("users", users), items: Parameter::new("items", items), weights: weights.collect() }
    }

    /// All parameters: users, items, and the weights in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Parameter> {
        [&self.users, &self.items].into_iter().chain(&self.weights)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Parameter> {
        [&mut self.users, &mut self.items].into_iter().chain(&mut self.weights)
    }

    /// The values of the rows of users and of items.
    pub fn tables(&self) -> [&Matrix; 2] {
        [&self.users.values, &self.items.values]
    }

    /// The values of the weights of a name that the model gave them.
    pub fn weights_of(&self, name: &str) -> &Matrix {
        let found = self.weights.iter().find(|weights| weights.name == name);
        &found.expect("a model asks for names that it gave").values
    }

    /// All values by name.
    pub fn named(&self) -> NamedMatrices<'_> {
        self.iter().map(|parameter| (&parameter.name[..], &parameter.values)).collect()
    }

    /// All values and their moments, by name; within an epoch also how far rows are left behind.
    pub fn state(&mut self, is_within: bool) -> Vec<(String, &mut [f32])> {
        let Self { users, items, weights } = self;
        users.state(is_within).chain(items.state(is_within)).chain(weights_state(weights)).collect()
    }

    /// The first value that is not a finite number, in words.
    pub fn not_finite(&self) -> Option<String> {
        self.iter().find_map(Parameter::not_finite)
    }
}

/// The state of weights, whose names begin with `weights.`, apart from those of tables, losses and samplers.
pub fn weights_state(weights: &mut [Parameter]) -> impl Iterator<Item = (String, &mut [f32])> {
    let prefixed = |(name, values)| (format!("weights.{name}"), values);
    weights.iter_mut().flat_map(move |weights| weights.state(false).map(prefixed))
}
