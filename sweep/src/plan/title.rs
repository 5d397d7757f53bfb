//! The name of a method for a reader: as short as it can be without being taken for another of its dataset.

use crate::file::nearest;
use std::collections::HashMap;

/// A method's key and its parts as labelled in the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodName<'a> {
    /// The key: the same in every table.
    pub(crate) key: &'a str,
    /// The model.
    pub(crate) backbone: &'a str,
    /// The loss; none where the backbone fits without sampling.
    pub(crate) loss: Option<&'a str>,
    /// The sampler; none where the backbone fits without sampling.
    pub(crate) sampler: Option<&'a str>,
}

impl MethodName<'_> {
    /// From the shortest to the longest: values in brackets, then the sampler, then what else is in the key.
    fn levels(&self) -> [String; 4] {
        let short = |backbone: &str, loss: Option<&str>| loss.map_or_else(|| backbone.to_owned(), |loss| format!("{loss} on {backbone}"));
        let bare = short(without_values(self.backbone).as_str(), self.loss.map(without_values).as_deref());
        let full = short(self.backbone, self.loss);
        let with_sampler = self.sampler.map_or_else(|| full.clone(), |sampler| format!("{full} with {sampler}"));
        let rest: Vec<&str> = self.key.split(" / ").skip(3).collect();
        let whole = format!("{with_sampler}, {}", rest.join(", "));
        [bare, full, with_sampler, whole]
    }
}

/// The names of the methods of a dataset.
pub(crate) struct MethodNames<'a> {
    all: Vec<MethodName<'a>>,
    levels: Vec<[String; 4]>,
    titles: Vec<String>,
}

impl<'a> MethodNames<'a> {
    /// Finds titles: values in brackets, the sampler, what else is in the key, and then the whole key are said only where another method would read
    /// the same.
    pub(crate) fn new(all: Vec<MethodName<'a>>) -> Self {
        let levels: Vec<[String; 4]> = all.iter().map(MethodName::levels).collect();
        let mut counts: [HashMap<&str, usize>; 4] = Default::default();
        for levels in &levels {
            counts.iter_mut().zip(levels).for_each(|(counts, name)| *counts.entry(name).or_default() += 1);
        }
        let title = |(method, levels): (&MethodName<'_>, &[String; 4])| {
            let alone = levels.iter().zip(&counts).find(|(name, counts)| counts[name.as_str()] == 1);
            alone.map_or_else(|| method.key.to_owned(), |(name, _)| name.clone())
        };
        let titles = all.iter().zip(&levels).map(title).collect();
        Self { all, levels, titles }
    }

    /// The titles, in the order of the methods.
    pub(crate) fn titles(&self) -> &[String] {
        &self.titles
    }

    /// The key of a method.
    pub(crate) fn key(&self, place: usize) -> &'a str {
        self.all[place].key
    }

    /// The method that a name means: by key, by title, or by any shorter or longer name that is one method's alone.
    pub(crate) fn find(&self, name: &str) -> Meant {
        let Self { all, levels, titles } = self;
        let exact = all.iter().position(|method| method.key == name).or_else(|| titles.iter().position(|title| title == name));
        if let Some(place) = exact {
            return Meant::One(place);
        }
        let found: Vec<usize> = (0..all.len()).filter(|&place| levels[place].iter().any(|level| level == name)).collect();
        match found[..] {
            [] => Meant::Unknown(nearest::unknown("method", name, &titles.iter().map(String::as_str).collect::<Vec<_>>())),
            [one] => Meant::One(one),
            _ => Meant::Several(found.into_iter().map(|place| titles[place].clone()).collect()),
        }
    }
}

/// Who is meant by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The method at this place.
    One(usize),
    /// Several, by their titles.
    Several(Vec<String>),
    /// None; with words for an error.
    Unknown(String),
}

/// That a name is that of several methods.
pub(super) fn several(name: &str, titles: &[String]) -> String {
    format!(
        "`{name}` is the name of several methods; give one of {}",
        titles.iter().map(|title| format!("`{title}`")).collect::<Vec<_>>().join(", ")
    )
}

/// A part's name without the values that tell it from others of the sweep: `softmax-at-k(20)` of `softmax-at-k(20, quantile_every=5)`.
fn without_values(part: &str) -> String {
    let Some((head, inside)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) else {
        return part.to_owned();
    };
    let first: Vec<&str> = inside.split(", ").take_while(|value| !value.contains('=')).collect();
    if first.is_empty() { head.to_owned() } else { format!("{head}({})", first.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(key: &'a str, backbone: &'a str, loss: &'a str, sampler: &'a str) -> MethodName<'a> {
        MethodName { key, backbone, loss: Some(loss), sampler: Some(sampler) }
    }

    fn titles(all: &[MethodName<'_>]) -> Vec<String> {
        MethodNames::new(all.to_vec()).titles().to_vec()
    }

    #[test]
    fn the_sampler_is_said_only_where_it_is_needed() {
        let all = [
            named("u", "mf-64", "bpr", "uniform-1"),
            named("p", "mf-64", "bpr", "popularity-1"),
            MethodName { key: "ease", backbone: "ease", loss: None, sampler: None },
        ];
        assert_eq!(titles(&all), ["bpr on mf-64 with uniform-1", "bpr on mf-64 with popularity-1", "ease"]);
    }

    #[test]
    fn values_are_said_only_where_they_are_needed() {
        let all = [
            named("1", "mf-64(init=xavier-normal)", "bpr", "u"),
            named("2", "mf-64(init=normal)", "softmax-at-k(20, quantile_every=5)", "u"),
            named("3", "mf-64(init=normal)", "softmax(temperature=0.1)", "u"),
            named("4", "mf-64(init=normal)", "softmax(temperature=0.2)", "u"),
        ];
        let expected = ["bpr on mf-64", "softmax-at-k(20) on mf-64", "softmax(temperature=0.1) on mf-64(init=normal)"];
        assert_eq!(titles(&all)[..3], expected);
    }

    #[test]
    fn what_else_differs_comes_from_the_key() {
        let key = |optimizer: &str| format!("mf-64 / bpr / uniform-1 / {optimizer}");
        let (adam, lazy) = (key("adam"), key("lazy-adam"));
        let all = [named(&adam, "mf-64", "bpr", "uniform-1"), named(&lazy, "mf-64", "bpr", "uniform-1")];
        assert_eq!(titles(&all), ["bpr on mf-64 with uniform-1, adam", "bpr on mf-64 with uniform-1, lazy-adam"]);
        assert_eq!(titles(&[named("one", "mf-64", "bpr", "u"), named("two", "mf-64", "bpr", "u")]), ["one", "two"]);
    }

    #[test]
    fn a_name_means_the_method_that_it_fits_alone() {
        let all = [
            named("1", "mf-64(init=xavier-normal)", "bpr", "uniform-1"),
            named("2", "mf-64(init=normal)", "softmax(temperature=0.1)", "uniform-9"),
            named("3", "mf-64(init=normal)", "softmax(temperature=0.2)", "uniform-9"),
        ];
        for name in ["1", "bpr on mf-64", "bpr on mf-64(init=xavier-normal)", "bpr on mf-64(init=xavier-normal) with uniform-1"] {
            assert_eq!(MethodNames::new(all.to_vec()).find(name), Meant::One(0), "{name}");
        }
        let both = ["softmax(temperature=0.1) on mf-64(init=normal)", "softmax(temperature=0.2) on mf-64(init=normal)"];
        assert_eq!(MethodNames::new(all.to_vec()).find("softmax on mf-64"), Meant::Several(both.map(str::to_owned).into()));
        assert_eq!(MethodNames::new(all.to_vec()).find(both[1]), Meant::One(2));
        let Meant::Unknown(words) = MethodNames::new(all.to_vec()).find("brp on mf-64") else { panic!() };
        assert!(words.starts_with("unknown method `brp on mf-64`: did you mean `bpr on mf-64`?"), "{words}");
    }
}
