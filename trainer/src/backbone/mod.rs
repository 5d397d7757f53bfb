//! Models: parameters to user and item vectors.

use serde::{Deserialize, Serialize};

mod ease;
mod init;
mod light_gcn;
mod mf;
mod popularity;

pub use ease::Ease;
pub use init::Init;
pub use light_gcn::LightGcn;
pub use mf::Mf;
pub use popularity::Popularity;

/// `backbones` in a sweep file, by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backbone {
    /// The items' train counts.
    Popularity(Popularity),
    /// Linear item-to-item model in closed form.
    Ease(Ease),
    /// Matrix factorisation.
    Mf(Mf),
    /// Light graph convolution.
    LightGcn(LightGcn),
}

impl Backbone {
    /// Whether it fits without a loss, a sampler and an optimizer.
    pub fn fits_without_sampling(&self) -> bool {
        matches!(self, Self::Popularity(_) | Self::Ease(_))
    }
}
