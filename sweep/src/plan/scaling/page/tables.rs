//! The tables of the page.

use super::{
    super::{
        Exchange, H200, Kernel, Machine, Message, Step, Work,
        advice::Sweep,
        collective::Gradients,
        kernel::KINDS,
        memory, start,
        step::gradients,
        work::{different, tests::GOWALLA},
    },
    Batch, examples,
};
use crate::report::number;
use cluster::Resources;

/// A table in Markdown: its header, and rows that grow.
struct Table(String);

impl Table {
    fn new(header: &[&str]) -> Self {
        Self(format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len())))
    }

    fn add(&mut self, cells: &[String]) {
        self.0 += &format!("| {} |\n", cells.join(" | "));
    }
}

/// Every table by its name, in the page's order.
pub(super) fn all() -> [(&'static str, String); 9] {
    [
        ("rates", rates()),
        ("bytes", bytes()),
        ("start", starts()),
        ("from", from()),
        ("kernels", kernels()),
        ("times", times()),
        ("floors", floors()),
        ("trials", trials()),
        ("plan", plan()),
    ]
}

fn rates() -> String {
    let mut table = Table::new(&["rate", "in the model", "whose figure"]);
    let giga = |rate: f64| format!("{:.0} GB/s", rate / 1e9);
    let micro = |seconds: f64| format!("{:.1} µs", seconds * 1e6);
    let mut add = |what: &str, value: String, whose: &str| table.add(&[what.to_owned(), value, whose.to_owned()]);
    add("memory of an H200", giga(H200.memory), "4.8 TB/s, NVIDIA [1]");
    add("single-precision operations", format!("{:.0} TFLOP/s", H200.flops / 1e12), "NVIDIA [1]");
    add("NVLink, one direction, within a node of 8", giga(H200.nvlink), "900 GB/s both ways [1, 2] are 450 each; NCCL reaches 370 [3]");
    add("network, one adapter for each GPU", giga(H200.adapter), "400 Gb/s (NDR) [2, 4] are 50 GB/s; NCCL reaches 46 to 48 [5]");
    add("a collective, before anything moves", micro(H200.call), "NCCL [6]");
    add("a hop of a ring within a node", micro(H200.hop), "NCCL [6]");
    add("the same in a ring over several nodes", micro(H200.hop_of_many), "NCCL [6]");
    add("a hop to another node", micro(H200.hop_out), "NCCL [6]");
    add("from one kernel to the next", micro(H200.launch), "**assumed**");
    add("a kernel over its floor", format!("{:.0} times", H200.over_floor[0]), "**assumed**, of every kernel");
    table.0
}

/// The two trainings on Gowalla send the same.
fn bytes() -> String {
    let header = [
        "work",
        "batch",
        "GPUs",
        "users touched by each",
        "items touched by each",
        "users, rows",
        "items, rows",
        "items, dense",
        "sent",
        "loss and counts",
    ];
    let mut table = Table::new(&header);
    let [(_, gowalla), _, large] = examples();
    for (name, work) in [("MF or LightGCN, Gowalla", gowalla), large] {
        for (batch, ranks) in Batch::ALL.into_iter().flat_map(|batch| [8, 32].map(|ranks| (batch, ranks))) {
            let work = batch.of(work, ranks);
            let [users, items] = gradients(&work, ranks);
            let [rows, dense] = [Exchange::Rows, Exchange::Dense].map(|way| bytes_of(items, way, ranks));
            let step = Step::on(&work, &H200, ranks);
            let small: f64 = step.small.iter().map(|message| message.bytes).sum();
            table.add(&[
                name.to_owned(),
                batch.name().to_owned(),
                ranks.to_string(),
                number::count(users.touched.round() as usize),
                number::count(items.touched.round() as usize),
                size(bytes_of(users, Exchange::Rows, ranks)),
                bold(size(rows), step.ways[1] == Exchange::Rows),
                bold(size(dense), step.ways[1] == Exchange::Dense),
                size(step.gradients.iter().map(|message| message.bytes).sum()),
                size(small),
            ]);
        }
    }
    table.0
}

fn bytes_of(table: Gradients, way: Exchange, ranks: u32) -> f64 {
    table.meet(way, &H200, ranks).bytes
}

fn starts() -> String {
    let mut table = Table::new(&["work", "parameters", "to 8 GPUs", "to 32 GPUs", "memory of each GPU, alone"]);
    let [gowalla, graph, large] = examples();
    for (name, work) in [gowalla, graph, large] {
        let [eight, many] = [8, 32].map(|ranks| start(&work, &H200, ranks));
        let milliseconds = |message: Message| format!("{:.1} ms", message.seconds * 1e3);
        table.add(&[name.to_owned(), size(eight.bytes), milliseconds(eight), milliseconds(many), size(memory(&work, 1))]);
    }
    table.0
}

/// From how many items on rows are fewer bytes than the table.
fn from() -> String {
    let places = [(Batch::Whole, 8), (Batch::Whole, 32), (Batch::EachRank, 8), (Batch::EachRank, 32)];
    let header = places.map(|(batch, ranks)| format!("{ranks} GPUs, {}", batch.name()));
    let mut table = Table::new(&[&["negatives"], &header.each_ref().map(String::as_str)[..]].concat());
    for drawn in [1.0, 100.0, 1000.0] {
        let least = places.map(|(batch, ranks)| number::count(least_items(batch.of(Work { drawn: Some(drawn), ..GOWALLA }, ranks), ranks)));
        table.add(&[&[format!("{drawn}")], &least[..]].concat());
    }
    table.0
}

/// The least number of items for which rows are exchanged, to three digits.
fn least_items(work: Work, ranks: u32) -> usize {
    let draws = work.scores(work.rows_of(ranks));
    let by_rows = |items: f64| Gradients { rows: items, dim: work.dim, touched: different(items, draws) }.exchange(ranks) == Exchange::Rows;
    let (mut dense, mut rows) = (1.0_f64, 1e12_f64);
    while rows > 1.000_01 * dense {
        let middle = (dense * rows).sqrt();
        if by_rows(middle) { rows = middle } else { dense = middle }
    }
    let digit = 10_f64.powf(rows.log10().floor() - 2.0);
    ((rows / digit).round() * digit).round() as usize
}

fn kernels() -> String {
    let examples = examples();
    let mut table = Table::new(&[&["one GPU, one step"], &examples.each_ref().map(|(name, _)| *name)[..]].concat());
    let steps = examples.map(|(_, work)| Step::on(&work, &H200, 1));
    let of = |step: &Step| [&step.of_rows[..], &step.of_tables[..]].concat();
    let all = of(&steps[1]); // a graph has every kind
    for kind in all.iter().map(|kernel| kernel.kind) {
        let cell = |step: &Step| {
            let found = of(step).into_iter().find(|kernel| kernel.kind == kind);
            found.map_or_else(|| "–".to_owned(), |kernel| floor(&kernel))
        };
        table.add(&[&[format!("{kind:?}").to_lowercase()], &steps.each_ref().map(cell)[..]].concat());
    }
    let whole = |step: &Step| format!("{} µs", tens(step.seconds(&H200)));
    table.add(&[&["**twice the floors, and launches**".to_owned()], &steps.each_ref().map(whole)[..]].concat());
    table.0
}

fn floor(kernel: &Kernel) -> String {
    format!("{}, {} µs", size(kernel.bytes), tens(kernel.floor(&H200)))
}

fn times() -> String {
    let header = ["work", "batch", "GPUs", "its rows", "whole tables", "collectives", "a step", "as fast as one GPU", "of as many trials"];
    let mut table = Table::new(&header);
    for (name, work) in examples() {
        let alone = Step::on(&work, &H200, 1).seconds(&H200);
        let cases = [(Batch::Whole, 1), (Batch::Whole, 8), (Batch::Whole, 32), (Batch::EachRank, 8), (Batch::EachRank, 32)];
        for (batch, ranks) in cases {
            let of_ranks = batch.of(work, ranks);
            let step = Step::on(&of_ranks, &H200, ranks);
            let times = of_ranks.rows / work.rows * alone / step.seconds(&H200);
            let part = |seconds: f64| if seconds > 0.0 { format!("{} µs", tens(seconds)) } else { "–".to_owned() };
            let parts = step.parts(&H200).map(part);
            let rest = [
                format!("{} µs", tens(step.seconds(&H200))),
                format!("{}x", number::short(times)),
                format!("{:.0} %", 100.0 * times / f64::from(ranks)),
            ];
            table.add(&[&[name.to_owned(), batch.name().to_owned(), ranks.to_string()], &parts[..], &rest[..]].concat());
        }
    }
    table.0
}

/// Eight GPUs against one, should kernels be nearer to their floors than is assumed, or farther.
fn floors() -> String {
    let all = [1.0, 2.0, 4.0, 8.0];
    let header = all.map(|over| format!("{over} times the floor"));
    let mut table = Table::new(&[&["8 GPUs, 1024 in all"], &header.each_ref().map(String::as_str)[..]].concat());
    for (name, work) in examples() {
        let times = all.map(|over| {
            let machine = Machine { over_floor: [over; KINDS], ..H200 };
            let seconds = |ranks| Step::on(&work, &machine, ranks).seconds(&machine);
            format!("{}x", number::short(seconds(1) / seconds(8)))
        });
        table.add(&[&[name.to_owned()], &times[..]].concat());
    }
    table.0
}

fn trials() -> String {
    let counts = [1, 2, 4, 8, 16, 32];
    let header = counts.map(|trials| number::counted(trials, "trial"));
    let mut table = Table::new(&[&["work", "GPUs"], &header.each_ref().map(String::as_str)[..]].concat());
    for (name, work) in examples() {
        for gpus in [8, 32] {
            let resources = Resources { gpus: 1, nodes: 1, parallelism: gpus, ..Resources::default() };
            let best = |trials| match Sweep::new(&vec![work; trials], &resources).best() {
                (1, _) => "1".to_owned(),
                (ranks, times) => format!("{ranks} ({times:.1}x)"),
            };
            table.add(&[&[name.to_owned(), gpus.to_string()], &counts.map(best)[..]].concat());
        }
    }
    table.0
}

/// What `ranksweep plan` says of six trials of 200 epochs on Gowalla, where up to 32 may run at once.
fn plan() -> String {
    let resources = Resources { gpus: 1, nodes: 1, parallelism: 32, ..Resources::default() };
    format!("```\n{}```\n", Sweep::new(&[Work { steps: 200.0 * 792.0, ..GOWALLA }; 6], &resources).words())
}

fn bold(text: String, is_bold: bool) -> String {
    if is_bold { format!("**{text}**") } else { text }
}

/// Bytes in three digits.
fn size(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 1e3 => (b, "B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b if b < 1e9 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    format!("{} {unit}", number::short(value))
}

/// Microseconds, in three digits from 10 on.
fn tens(seconds: f64) -> String {
    let micro = seconds * 1e6;
    if micro < 10.0 { format!("{micro:.1}") } else { number::count(micro.round() as usize) }
}
