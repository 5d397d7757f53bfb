//! The steps, each a function from relations to a relation.
//!
//! ```text
//! rows, pairs   user: uint64, item: uint64, part: uint8, time: float64       ids as hashes
//! ids           code: uint64, id: utf8, length: uint32, integer: bool        the hash, the id, its bytes, and whether it is an integer
//! degrees       code: uint64, degree: int64
//! user ids      id: utf8                                                   by dense id
//! places        code: uint64, place: uint32                                  the dense id of each
//! edges         pair: uint64, part: uint8, time: float64                     dense ids: the user's in the upper half of `pair`, the item's in the lower
//! ```

use super::workspace::Relation;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::{
    error::DataFusionError,
    functions_aggregate::expr_fn::{count, max, min},
    prelude::{DataFrame, Expr, JoinType, cast, col, lit},
};

/// A relation that is yet to be computed.
pub(super) type Frame = Result<DataFrame, DataFusionError>;

/// Users, or items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Users,
    Items,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Users, Self::Items];

    /// The column of rows and pairs.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Users => "user",
            Self::Items => "item",
        }
    }

    /// Ids as they are read, each any number of times.
    pub(super) fn raw_ids(self) -> Relation {
        Relation::RawIds(self)
    }

    /// Each id once.
    pub(super) fn ids(self) -> Relation {
        Relation::Ids(self)
    }

    pub(super) fn degrees(self) -> Relation {
        Relation::Degrees(self)
    }

    pub(super) fn places(self) -> Relation {
        Relation::Places(self)
    }
}

impl Relation {
    /// The relation's columns.
    pub(super) fn schema(self) -> Schema {
        let columns: &[(&str, DataType)] = match self {
            Self::Probe => &[("row", DataType::UInt64)],
            Self::Rows(_) | Self::Pairs(_) => {
                &[("user", DataType::UInt64), ("item", DataType::UInt64), ("part", DataType::UInt8), ("time", DataType::Float64)]
            }
            Self::RawIds(_) | Self::Ids(_) => {
                &[("code", DataType::UInt64), ("id", DataType::Utf8), ("length", DataType::UInt32), ("integer", DataType::Boolean)]
            }
            Self::Degrees(_) => &[("code", DataType::UInt64), ("degree", DataType::Int64)],
            Self::Places(_) => &[("code", DataType::UInt64), ("place", DataType::UInt32)],
            Self::UserIds => &[("id", DataType::Utf8)],
            Self::Edges => &[("pair", DataType::UInt64), ("part", DataType::UInt8), ("time", DataType::Float64)],
        };
        Schema::new(columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), false)).collect::<Vec<_>>())
    }
}

/// Each user and item of a part once, with the latest of its times. Where there are no `parts`, all rows are of the first one.
pub(super) fn latest(rows: DataFrame, parts: bool) -> Frame {
    let time = vec![max(col("time")).alias("time")];
    if parts {
        return rows.aggregate(vec![col("user"), col("item"), col("part")], time);
    }
    let pairs = rows.aggregate(vec![col("user"), col("item")], time)?;
    pairs.select(vec![col("user"), col("item"), lit(0u8).alias("part"), col("time")])
}

/// Each row once.
pub(super) fn distinct(ids: DataFrame) -> Frame {
    ids.distinct()
}

/// The hashes of ids, each once.
pub(super) fn codes(ids: DataFrame) -> Frame {
    ids.select(vec![col("code")])?.distinct()
}

/// How many interactions each user, or each item, has.
pub(super) fn degrees(pairs: DataFrame, side: Side) -> Frame {
    pairs.aggregate(vec![col(side.column()).alias("code")], vec![count(lit(1)).alias("degree")])
}

/// The users, or items, with fewer interactions than a bound.
pub(super) fn below(degrees: DataFrame, bound: u32) -> Frame {
    degrees.filter(col("degree").lt(lit(i64::from(bound))))
}

/// How many users, or items, have each number of interactions below some number.
pub(super) fn numbers_of_degrees(degrees: DataFrame, below: u32) -> Frame {
    self::below(degrees, below)?.aggregate(vec![col("degree")], vec![count(lit(1)).alias("count")])
}

/// Interactions without those of some users, or items. Who leaves is the build side: they are fewer than interactions.
pub(super) fn without(pairs: DataFrame, leaving: DataFrame, side: Side) -> Frame {
    leaving.select(vec![col("code")])?.join(pairs, JoinType::RightAnti, &["code"], &[side.column()], None)
}

/// The ids of those that have interactions.
pub(super) fn left(ids: DataFrame, degrees: DataFrame) -> Frame {
    degrees.join(ids, JoinType::RightSemi, &["code"], &["code"], None)
}

/// Whether all ids are integers: one row.
pub(super) fn all_integers(ids: DataFrame) -> Frame {
    let number = cast(col("integer"), DataType::UInt8);
    ids.aggregate(Vec::new(), vec![min(number).alias("integer")])
}

/// Ids in their final order: integers as numbers, else by their bytes.
pub(super) fn sorted(ids: DataFrame, integers: bool) -> Frame {
    let ascending = |column: &str| col(column).sort(true, false);
    let by = if integers { vec![ascending("length"), ascending("id")] } else { vec![ascending("id")] };
    ids.sort(by)?.select(vec![col("code"), col("id")])
}

/// Interactions of users and items that have a place, by dense ids: by user, then item, then part where there are several `parts`. One number for both ids is
/// sorted several times as fast as two columns are.
pub(super) fn numbered(pairs: DataFrame, users: DataFrame, items: DataFrame, parts: bool) -> Frame {
    let placed = |pairs: DataFrame, places: DataFrame, side: Side| {
        let joined = places.join(pairs, JoinType::Inner, &["code"], &[side.column()], None)?;
        let own = |column: &str| if column == side.column() { col("place").alias(column) } else { col(column) };
        joined.select(["user", "item", "part", "time"].map(own).to_vec())
    };
    let wide = |column: &str| cast(col(column), DataType::UInt64);
    let pair = (wide("user") * lit(1u64 << 32) + wide("item")).alias("pair");
    let dense = placed(placed(pairs, users, Side::Users)?, items, Side::Items)?.select(vec![pair, col("part"), col("time")])?;
    let by: &[&str] = if parts { &["pair", "part"] } else { &["pair"] };
    dense.sort(by.iter().map(|column| col(*column).sort(true, false)).collect())
}

/// Interactions of users and items that have a degree.
pub(super) fn of_those_left(pairs: DataFrame, users: DataFrame, items: DataFrame) -> Frame {
    let of_users = users.join(pairs, JoinType::RightSemi, &["code"], &[Side::Users.column()], None)?;
    items.join(of_users, JoinType::RightSemi, &["code"], &[Side::Items.column()], None)
}

/// Interactions before a moment.
pub(super) fn before(pairs: DataFrame, moment: f64) -> Frame {
    pairs.filter(col("time").lt(lit(moment)))
}

/// How many interactions happened at each time, in the order of times.
pub(super) fn times(pairs: DataFrame) -> Frame {
    let counted: Vec<Expr> = vec![count(lit(1)).alias("count")];
    pairs.aggregate(vec![col("time")], counted)?.sort(vec![col("time").sort(true, false)])
}
