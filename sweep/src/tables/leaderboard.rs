//! `leaderboard.parquet`: the methods of each dataset, ordered by each metric. Its bytes are the same whenever the sweep is.

use super::{Reader, metric_at, numbers, numbers_or_null, texts, texts_or_null};
use arrow::datatypes::{Float64Type, UInt32Type};
use dataset::{FileEntry, Location, Result, table};
use evaluator::{MetricAt, settings::Over, significance::Verdict};

/// One method of a dataset by one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderboardRow {
    /// The dataset's name in the sweep file.
    pub dataset: String,
    /// The metric and where lists are cut.
    pub at: MetricAt,
    /// 1 for the best mean; equal means share a rank. None where nothing was measured.
    pub rank: Option<u32>,
    /// The method's key: the same in every table.
    pub method: String,
    /// The method as a reader sees it, unique in its dataset: `softmax-at-k on mf-64`.
    pub title: String,
    /// The model.
    pub backbone: String,
    /// The loss; none where the backbone fits without sampling.
    pub loss: Option<String>,
    /// The sampler; none where the backbone fits without sampling.
    pub sampler: Option<String>,
    /// The values that validation picked: a flat JSON object. None where nothing was picked.
    pub parameters: Option<serde_json::Value>,
    /// Configurations that were tried: those with a trial that ended, failed or was stopped by successive halving.
    pub configurations: u32,
    /// Seeds behind the mean, each with a trial on each split; 1 where the backbone fits at once.
    pub seeds: u32,
    /// Trials of the method that failed, picked or not.
    pub failed: u32,
    /// Users behind the mean.
    pub users: u32,
    /// Mean over splits of the mean over the users of each, of each user's mean over seeds.
    pub mean: Option<f64>,
    /// Lower end of the interval of the mean at the level `1 - alpha`; none for one user.
    pub ci_low: Option<f64>,
    /// Its upper end.
    pub ci_high: Option<f64>,
    /// The sources of variance that the interval counts.
    pub over: Option<Over>,
    /// Standard deviation of the means of single seeds; none for one seed.
    pub seed_std: Option<f64>,
    /// The verdict on the method against the first one, or against the one that the family names; none where they were not compared.
    pub verdict: Option<Verdict>,
    /// Methods that share a letter do not differ significantly by the first test.
    pub letters: String,
}

/// Writes the table.
///
/// # Errors
/// When it cannot be stored.
pub fn write(at: &Location, rows: &[LeaderboardRow]) -> Result<FileEntry> {
    let columns = vec![
        texts("dataset", rows.iter().map(|row| &row.dataset)),
        texts("metric", rows.iter().map(|row| row.at.metric.name())),
        numbers_or_null::<UInt32Type>("cutoff", rows.iter().map(|row| row.at.cutoff)),
        numbers_or_null::<UInt32Type>("rank", rows.iter().map(|row| row.rank)),
        texts("method", rows.iter().map(|row| &row.method)),
        texts("title", rows.iter().map(|row| &row.title)),
        texts("backbone", rows.iter().map(|row| &row.backbone)),
        texts_or_null("loss", rows.iter().map(|row| row.loss.as_ref())),
        texts_or_null("sampler", rows.iter().map(|row| row.sampler.as_ref())),
        texts_or_null("parameters", rows.iter().map(|row| row.parameters.as_ref().map(ToString::to_string))),
        numbers::<UInt32Type>("configurations", rows.iter().map(|row| row.configurations)),
        numbers::<UInt32Type>("seeds", rows.iter().map(|row| row.seeds)),
        numbers::<UInt32Type>("failed", rows.iter().map(|row| row.failed)),
        numbers::<UInt32Type>("users", rows.iter().map(|row| row.users)),
        numbers_or_null::<Float64Type>("mean", rows.iter().map(|row| row.mean)),
        numbers_or_null::<Float64Type>("ci_low", rows.iter().map(|row| row.ci_low)),
        numbers_or_null::<Float64Type>("ci_high", rows.iter().map(|row| row.ci_high)),
        texts_or_null("over", rows.iter().map(|row| row.over.map(Over::name))),
        numbers_or_null::<Float64Type>("seed_std", rows.iter().map(|row| row.seed_std)),
        texts_or_null("verdict", rows.iter().map(|row| row.verdict.map(Verdict::name))),
        texts("letters", rows.iter().map(|row| &row.letters)),
    ];
    table::write(at, &table::batch(columns))
}

/// Reads the table.
///
/// # Errors
/// When it is missing or does not hold what [`write()`] puts there.
pub fn read(at: &Location) -> Result<Vec<LeaderboardRow>> {
    let stored = table::read(at)?;
    let reader = Reader { batch: &stored, at };
    let (dataset, metric, cutoff) = (reader.text("dataset")?, reader.text("metric")?, reader.number_or_null::<UInt32Type>("cutoff")?);
    let (rank, method, title) = (reader.number_or_null::<UInt32Type>("rank")?, reader.text("method")?, reader.text("title")?);
    let (backbone, loss, sampler) = (reader.text("backbone")?, reader.text_or_null("loss")?, reader.text_or_null("sampler")?);
    let (parameters, letters) = (reader.text_or_null("parameters")?, reader.text("letters")?);
    let (over, verdict) = (reader.text_or_null("over")?, reader.text_or_null("verdict")?);
    let count = |name| reader.number::<UInt32Type>(name);
    let (configurations, seeds, failed, users) = (count("configurations")?, count("seeds")?, count("failed")?, count("users")?);
    let value = |name| reader.number_or_null::<Float64Type>(name);
    let (mean, ci_low, ci_high, seed_std) = (value("mean")?, value("ci_low")?, value("ci_high")?, value("seed_std")?);
    let row = |row: usize| {
        let json = parameters(row).map(|text| serde_json::from_str(&text)).transpose();
        Ok(LeaderboardRow {
            dataset: dataset(row),
            at: metric_at(&metric(row), cutoff(row)).map_err(|reason| reader.refuse(row, reason))?,
            rank: rank(row),
            method: method(row),
            title: title(row),
            backbone: backbone(row),
            loss: loss(row),
            sampler: sampler(row),
            parameters: json.map_err(|error| reader.refuse(row, error))?,
            configurations: configurations(row),
            seeds: seeds(row),
            failed: failed(row),
            users: users(row),
            mean: mean(row),
            ci_low: ci_low(row),
            ci_high: ci_high(row),
            over: named(&reader, row, &Over::ALL, Over::name, over(row))?,
            seed_std: seed_std(row),
            verdict: named(&reader, row, &Verdict::ALL, Verdict::name, verdict(row))?,
            letters: letters(row),
        })
    };
    (0..stored.num_rows()).map(row).collect()
}

/// The one of several values that a text names.
fn named<T: Copy>(reader: &Reader, row: usize, all: &[T], name: fn(T) -> &'static str, text: Option<String>) -> Result<Option<T>> {
    let found = |text: String| {
        all.iter().copied().find(|value| name(*value) == text).ok_or_else(|| reader.refuse(row, format!("unknown `{text}`")))
    };
    text.map(found).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let measured = LeaderboardRow {
            dataset: "small".into(),
            at: "ndcg@20".parse().unwrap(),
            rank: Some(1),
            method: "m".into(),
            title: "bpr on mf-64".into(),
            backbone: "mf-64".into(),
            loss: Some("bpr".into()),
            sampler: Some("uniform-1".into()),
            parameters: Some(serde_json::json!({"learning_rate": 0.01})),
            configurations: 4,
            seeds: 2,
            failed: 1,
            users: 939,
            mean: Some(0.25),
            ci_low: Some(0.125),
            ci_high: Some(0.375),
            over: Some(Over::UsersAndSeeds),
            seed_std: None,
            verdict: Some(Verdict::Worse),
            letters: "ab".into(),
        };
        let unmeasured = LeaderboardRow {
            at: "auc".parse().unwrap(),
            rank: None,
            parameters: None,
            mean: None,
            loss: None,
            over: None,
            verdict: None,
            ..measured.clone()
        };
        let rows = [measured, unmeasured];
        let at = Location::parse("memory:///tables/leaderboard.parquet").unwrap();
        write(&at, &rows).unwrap();
        assert_eq!(read(&at).unwrap(), rows);
    }
}
