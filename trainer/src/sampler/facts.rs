//! What the code of a sampler does not know of it: who wrote it, the values that papers print, what it keeps and what it costs.
//!
//! `docs/kinds.md` is made of these, of the heads of the files and of the settings. In costs N is the number of candidates, n that of items
//! and m of users, d the length of vectors and P_u the user's train items. A dash stands for what papers do not print.

use super::Sampler;

/// Where a sampler comes from and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The paper, shortly; the file's head has the whole reference.
    pub paper: &'static str,
    /// The best or the usual values of papers.
    pub values: &'static str,
    /// What it keeps between draws.
    pub state: &'static str,
    /// What a row costs, and making the state anew.
    pub cost: &'static str,
}

/// What the papers of hard samplers draw and score for each positive.
const CANDIDATES: &str = "O(N) and the N scores";

impl Sampler {
    /// Where it comes from and what it costs.
    pub fn facts(&self) -> Facts {
        let (paper, values, state, cost) = match self {
            Sampler::All(_) => ("–", "–", "none", "n scores"),
            Sampler::Uniform(_) => {
                ("–", "SL@K: 1,000 negatives, 200 on Movielens; BPR and the lambda losses 1", "none", "O(log P_u) a draw")
            }
            Sampler::Popularity(_) => ("–", "word2vec: `exponent` 0.75", "an alias table of n items", "O(log P_u) a draw"),
            Sampler::InBatch(_) => ("Hidasi et al., ICLR 2016", "–", "the items' shares of the train pairs", "no draw"),
            Sampler::Ppr(_) => (
                "Karmim et al., TMLR 2024 (ITEM), Eq. 4",
                "`restart` 0.15; 200 negatives (600 on Amazon-Book)",
                "each user's `neighbours`, at most, with weights; made once and kept beside the dataset",
                "O(log P_u) a draw",
            ),
            Sampler::Dns(_) => ("Zhang et al., SIGIR 2013", "–", "none", CANDIDATES),
            Sampler::DnsMn(_) => (
                "Shi et al., WWW 2023, Algorithm 1",
                "`candidates` 200 (Gowalla, Yelp) or 500 (Amazon), `negatives` 1 to 20",
                "none",
                CANDIDATES,
            ),
            Sampler::Softmax(_) => ("Shi et al., WWW 2023, Eq. 3", "–", "none", CANDIDATES),
            Sampler::SoftmaxV(_) => (
                "Shi et al., WWW 2023, Algorithm 2",
                "`candidates` 200 (Gowalla, Yelp) or 500 (Amazon), `divergence` 0.01 to 100",
                "none",
                CANDIDATES,
            ),
            Sampler::Pris(_) => ("Lian et al., WWW 2020", "–", "none", CANDIDATES),
            Sampler::Warp(_) => ("Weston, Bengio and Usunier, IJCAI 2011", "`margin` 1; LightFM: 10 candidates", "none", CANDIDATES),
            Sampler::Aobpr(_) => (
                "Rendle and Freudenthaler, WSDM 2014",
                "–",
                "the items by each factor, and both tables as they were; sorted every n ln n draws",
                "O(d) a row; sorting O(d n log n)",
            ),
            Sampler::Kernel(_) => (
                "Blanc and Rendle, ICML 2018",
                "`curvature` 100",
                "a tree of sums of d (d + 1) / 2 products, and both tables as they were; made each epoch",
                "O(d^2 log n) a draw; the tree O(n d^2)",
            ),
            Sampler::AdaSir(_) => (
                "Chen et al., WWW 2022",
                "`negatives` 5, `proposals` 200, `pool_size` 50",
                "`pool_size` items of each user with weights; half renewed each epoch",
                "O(1) a draw; renewing O(m `proposals` d)",
            ),
            Sampler::Irgan(_) => (
                "Wang et al., SIGIR 2017",
                "`temperature` 0.2, `every` 100, `generator_epochs` 50, `redraw_every` 5; `generator_dim` 5 and SGD with 0.001",
                "a generator's tables and their moments, (m + n) `generator_dim`; its draws, N for each train pair",
                "O(1) a draw; drawing O(m n `generator_dim`), and moving the generator as much each of its epochs",
            ),
            Sampler::MixGcf(_) => {
                ("Huang et al., KDD 2021", "`candidates` 64, `negatives` 1", "none", "O(`candidates` d) each negative and layer")
            }
        };
        Facts { paper, values, state, cost }
    }
}
