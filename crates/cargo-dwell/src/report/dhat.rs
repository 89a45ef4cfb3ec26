//! `--dhat`: JSON for valgrind's viewer of allocations.

use super::diff::Diff;
use super::format::FileFormat;
use dwell_heap::json::{Document, Snapshot};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

pub(super) struct DhatFile;

impl FileFormat for DhatFile {
    fn option(&self) -> &'static str {
        "dhat"
    }

    fn help(&self) -> &'static str {
        "Write the call stacks with their live bytes to FILE as JSON for DHAT's viewer"
    }

    fn write(&self, document: &Document, _diff: Option<&Diff>, out: &mut dyn Write) -> io::Result<()> {
        dhat(document, out)
    }
}

/// A file for valgrind's `dhat/dh_view.html`, in version 2 of its format.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dhat<'a> {
    #[serde(rename = "dhatFileVersion")]
    version: u32,
    mode: &'static str,
    verb: &'static str,
    bklt: bool,
    bkacc: bool,
    tu: &'static str,
    #[serde(rename = "Mtu")]
    millions: &'static str,
    tuth: u32,
    cmd: String,
    pid: u32,
    te: u64,
    tg: u64,
    pps: Vec<Point>,
    ftbl: Vec<&'a str>,
}

/// A program point of DHAT: a line that allocates.
#[derive(Serialize)]
struct Point {
    tb: u64,
    tbk: u64,
    tl: u64,
    mb: u64,
    mbk: u64,
    gb: u64,
    gbk: u64,
    eb: u64,
    ebk: u64,
    fs: Vec<usize>,
}

/// Writes DHAT's JSON, with the largest snapshot as its global maximum.
fn dhat(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let empty = Snapshot::default();
    let snapshot = document.largest().unwrap_or(&empty);
    let mut frames = vec!["[root]"];
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut points = Vec::new();
    let at_exit = u64::from(snapshot.at == "exit");
    for stack in &snapshot.stacks {
        let names = stack.frames.iter().filter_map(|frame| snapshot.frames.get(*frame as usize));
        let fs = names.map(|name| {
            *numbers.entry(name).or_insert_with(|| {
                frames.push(name);
                frames.len() - 1
            })
        });
        points.push(Point {
            fs: fs.collect(),
            tb: stack.bytes,
            tbk: stack.blocks,
            tl: 0,
            mb: stack.bytes,
            mbk: stack.blocks,
            gb: stack.bytes,
            gbk: stack.blocks,
            eb: stack.bytes * at_exit,
            ebk: stack.blocks * at_exit,
        });
    }
    let mut cmd = document.program.file.clone();
    for argument in &document.program.arguments {
        cmd.push(' ');
        cmd.push_str(argument);
    }
    let dhat = Dhat {
        version: 2,
        mode: "rust-heap",
        verb: "Allocated",
        bklt: true,
        bkacc: false,
        tu: "ms",
        millions: "s",
        tuth: 10,
        cmd,
        pid: 0,
        te: document.program.millis,
        tg: snapshot.millis,
        pps: points,
        ftbl: frames,
    };
    serde_json::to_writer(out, &dhat).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    #[test]
    fn dhat_lists_each_function_once() {
        let mut out = Vec::new();
        dhat(&document(), &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["dhatFileVersion"], 2);
        assert_eq!(value["ftbl"].as_array().unwrap().len(), 4);
        assert_eq!(value["pps"][0]["fs"], serde_json::json!([1, 2, 3]));
        assert_eq!(value["pps"][1]["eb"], 10);
    }
}
