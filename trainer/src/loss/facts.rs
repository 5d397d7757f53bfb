//! What the code of a loss does not know of it: who wrote it, the values that papers print, and what it costs.
//!
//! `docs/kinds.md` is made of these, of the heads of the files and of the settings. In costs N is the number of negatives, P that of a
//! list's positives, n of items and d the length of vectors; the dot products of the scores are not counted. Values of paper SL@K are those
//! of matrix factorisation on Health / Electronic / Gowalla / Book; a dash stands for what is not printed.

use super::Loss;

/// Where a loss comes from and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The paper, shortly; the file's head has the whole reference.
    pub paper: &'static str,
    /// The best or the usual values of papers.
    pub values: &'static str,
    /// What a row costs beside its scores.
    pub cost: &'static str,
}

const fn facts(paper: &'static str, values: &'static str, cost: &'static str) -> Facts {
    Facts { paper, values, cost }
}

impl Loss {
    /// Where it comes from and what it costs.
    pub fn facts(&self) -> Facts {
        match self {
            Loss::Bce(_) => facts("Di Teodoro et al., \"A Theoretical Analysis\"", "1 to 100 negatives; Adam 0.001", "O(N)"),
            Loss::Gbce(_) => facts("Petrov and Macdonald, RecSys 2023", "`calibration` 0.75 with 256 negatives", "O(N)"),
            Loss::Bpr(_) => facts(
                "Rendle et al., UAI 2009",
                "SL@K: one negative; Adam 0.001 / 0.001 / 0.001 / 0.0001, decay 1e-4 / 1e-5 / 1e-6 / 0",
                "O(N)",
            ),
            Loss::Cce(_) => facts("Di Teodoro et al., \"A Theoretical Analysis\"", "1 to 100 negatives; Adam 0.001", "O(N)"),
            Loss::Softmax(_) => facts(
                "Wu et al., TOIS 2024",
                "SL@K: `temperature` 0.2 / 0.2 / – / 0.05; Adam 0.1 / 0.01 / 0.1 / 0.1; 1,000 negatives",
                "O(N)",
            ),
            Loss::SampledSoftmax(_) => {
                facts("Bengio and Senécal, TNN 2008; Yi et al., RecSys 2019", "RG: 100 to 1,000 uniform negatives", "O(N)")
            }
            Loss::SoftmaxAtK(_) => facts(
                "Yang et al., KDD 2025 (SL@K)",
                "at K = 20: `temperature` 0.2 / 0.2 / 0.1 / 0.05, `weight_temperature` 2.5 / 2.25 / 1 / 0.5, `quantile_every` 5 / 5 / 20 / 20; \
                 Adam 0.1",
                QUANTILES,
            ),
            Loss::Bsl(_) => facts(
                "Wu et al., ICDE 2024",
                "SL@K: `positive_temperature` 0.2 / 0.5 / 0.2 / 0.5, `negative_temperature` 0.2 / 0.2 / 0.1 / 0.05; Adam 0.1; `form: pairs`",
                "O(P + N)",
            ),
            Loss::Psl(_) => facts("Yang et al., NeurIPS 2024", "`temperature` tuned from 0.005 to 0.25", "O(N)"),
            Loss::Ccl(_) => facts(
                "Mao et al., CIKM 2021 (SimpleX)",
                "RecBole: `margin` 0.5, `negative_weight` 10; AdvInfoNCE's release: `margin` 0.4",
                "O(N)",
            ),
            Loss::Sparsemax(_) => facts("Martins and Astudillo, ICML 2016", "–", "O(N log N)"),
            Loss::Mse(_) => {
                facts("Hu, Koren and Volinsky, ICDM 2008 (WRMF)", "`positive_weight` 1 (MSE), tuned from 1.5 to 9 (WRMF)", "O(N)")
            }
            Loss::Uib(_) => facts("Zhuo et al., WWW 2022", "`negative_weight` tuned from 0.01 to 0.99; 1 negative", "O(N)"),
            Loss::Cml(_) => facts("Hsieh et al., WWW 2017", "–", "O(N)"),
            Loss::Sml(_) => facts(
                "Li et al., AAAI 2020",
                "`item_weight` 0.01, `margin_weight` 10, `largest_margin` 1; RG: 1, 100 or 50 negatives",
                "O(N d)",
            ),
            Loss::Warp(_) => facts("Weston, Bengio and Usunier, IJCAI 2011", "LightFM: 10 candidates, `rank_weight: logarithm`", "O(1)"),
            Loss::DirectAu(_) => facts("Wang et al., KDD 2022", "`uniformity` tuned from 0.01 to 10", "O(B d) for a batch of B"),
            Loss::SmoothNdcg(_) => facts(
                "Karmim et al., TMLR 2024 (ITEM), Eq. 3; `gains`: Chapelle and Wu",
                "`temperature` 1 (inductive), 1.5 (transductive); 5 positives, 200 negatives (600 on Amazon-Book)",
                "O(P (P + N)); `gains` O((P + N)^2)",
            ),
            Loss::SmoothAp(_) => facts("Karmim et al., TMLR 2024 (ITEM), Eq. 7", "5 positives, 200 negatives", "O(P (P + N))"),
            Loss::SmoothRecall(_) => {
                facts("Karmim et al., TMLR 2024 (ITEM), Eq. 8", "5 positives, 200 negatives; `cutoffs` –", "O(P (P + N))")
            }
            Loss::ApproxNdcg(_) => facts("Qin, Liu and Li, Information Retrieval 2010", "allRank: `steepness` 1", "O(P (P + N))"),
            Loss::NeuralNdcg(_) => {
                facts("Pobrotyn and Bialobrzeski, SIGIR eCom 2021", "`sinkhorn_iterations` at most 50", "O((P + N)^2) each iteration")
            }
            Loss::SogClr(_) => facts("Yuan et al., ICML 2022", "`update_rate` tuned from 0.1 to 0.9", "O(N)"),
            Loss::SogSoftmaxAtK(_) => facts("none; IR-Benchmark's release", "`update_rate` tuned from 0.1 to 0.9", QUANTILES),
            Loss::AdapTau(_) => facts(
                "Chen et al., WWW 2023",
                "`loss_temperature` 1 (Yelp, Amazon-Book), 0.25 to 1.5; 1,024 uniform negatives",
                "O(N); each epoch a pass over the train pairs",
            ),
            Loss::AdvInfoNce(_) => facts(
                "Zhang et al., NeurIPS 2023",
                "SL@K: `temperature` 0.2 / 0.2 / – / 0.1; Adam 0.1 / 0.1 / 0.1 / 0.01; the authors: 128 negatives",
                "O(N `adversary_dim`)",
            ),
            Loss::Llpauc(_) => facts(
                "Shi et al., WWW 2024",
                "SL@K: `true_positive_rate` 0.7 / 0.5 / 0.7 / 0.7, `false_positive_rate` 0.01; Adam 0.1",
                "O(N)",
            ),
            Loss::GuidedRec(_) => facts("Rashed et al., SIGIR 2021", "SL@K: 9 negatives; Adam 0.01 / 0.01 / 0.001 / 0.001", "O(N^2)"),
            Loss::LambdaRank(_) => {
                facts("Burges, Ragno and Le, NIPS 2006", "SL@K, on Movielens or Food: one negative; Adam 0.001, decay 1e-5", RANKS)
            }
            Loss::LambdaLoss(_) => facts(
                "Wang et al., CIKM 2018",
                "SL@K, on Movielens or Food: one negative; Adam 0.01, decay 1e-5; sampled ranks: Adam 0.001, decay 1e-4",
                RANKS,
            ),
            Loss::LambdaLossAtK(_) => facts(
                "Jagerman et al., SIGIR 2022",
                "SL@K, on Movielens or Food, at K = 20: one negative; Adam 0.001, decay 1e-5; sampled ranks: Adam 0.01, decay 1e-5",
                RANKS,
            ),
        }
    }
}

/// What losses with quantiles cost.
const QUANTILES: &str = "O(N); a user's quantile N + P_u scores";

/// What the ranks of a row cost.
const RANKS: &str = "`exact`: O(n d); `sampled`: O(N log N)";
