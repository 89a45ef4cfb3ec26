//! A report as one HTML page: numbers, suggestions, icicle charts of live bytes, and a searchable table.
//!
//! The page loads nothing from the network. The HTML has all information; a script draws the charts, shows the details
//! of a bar, and searches.

use crate::units::{bytes, count, plural};
use serde::Serialize;
use std::fmt::Write;

/// The contents of a page.
#[derive(Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// What the bars of the charts count.
    pub unit: Unit,
    /// What suggestions save.
    pub saves: Unit,
    /// The main numbers, each with a label.
    pub numbers: Vec<(String, String)>,
    /// Notes, such as reasons why numbers may be inexact.
    pub notes: Vec<String>,
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
    /// The icicle charts, one above the other, on one scale but for those that are alone.
    pub icicles: Vec<Icicle>,
    /// The histograms.
    pub histograms: Vec<Histogram>,
    /// The differences between two snapshots: a heading and its rows.
    pub changes: Option<(String, Table)>,
    /// The searchable table at the end of the page.
    pub table: Table,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    #[default]
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Anything else.
    Count,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanos => "ns",
            Self::Count => "",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Nanos => "time",
            Self::Count => "number",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "only a few digits are shown")]
    fn shown(self, number: u64) -> String {
        match self {
            Self::Bytes => bytes(number),
            Self::Count => count(number),
            Self::Nanos if number >= 1_000_000 => format!("{:.1} ms", number as f64 / 1e6),
            Self::Nanos if number >= 1000 => format!("{:.1} us", number as f64 / 1e3),
            Self::Nanos => format!("{number} ns"),
        }
    }
}

/// A suggested change and its saving.
#[derive(Debug, Default)]
pub struct Suggestion {
    /// The type or field to change.
    pub location: String,
    /// The present type.
    pub before: String,
    /// The suggested type.
    pub after: String,
    /// The number of bytes that the change saves.
    pub saves: u64,
    /// The reason for the saving, and the cost.
    pub why: String,
}

/// A histogram of a quantity.
#[derive(Debug, Default)]
pub struct Histogram {
    /// The counted quantity.
    pub title: String,
    /// Ranges, each with the number of values in it.
    pub bars: Vec<(String, u64)>,
}

/// An icicle chart: live bytes as nested bars.
#[derive(Debug, Default, Serialize)]
pub struct Icicle {
    /// The heading of the chart.
    pub title: String,
    /// The outermost bar.
    pub root: Bar,
    /// Whether it has a scale of its own.
    pub is_alone: bool,
}

/// A bar. Its width shows its own bytes and those of the bars below it.
#[derive(Debug, Default, Serialize)]
pub struct Bar {
    /// The label of the bar.
    pub name: String,
    /// Its own bytes and those of the bars below.
    pub bytes: u64,
    /// The use of its own bytes, which decides the colour.
    pub class: Class,
    /// Pairs of label and text, shown after a click on the bar.
    pub details: Vec<(String, String)>,
    /// The bars below, from left to right.
    pub bars: Vec<Bar>,
}

/// The use of a bar's own bytes, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Structs and enums.
    #[default]
    Struct,
    /// Strings.
    Text,
    /// Vectors, slices.
    Sequence,
    /// Maps and sets.
    Map,
    /// Boxes.
    Pointer,
    /// Fields that are absent but take bytes.
    Absent,
    /// Unused capacity.
    Spare,
    /// Padding: bytes that no value uses.
    Padding,
    /// Anything else.
    Other,
}

impl Class {
    const ALL: [(Self, &'static str, &'static str); 9] = [
        (Self::Struct, "struct", "structs, enums"),
        (Self::Text, "text", "strings"),
        (Self::Sequence, "sequence", "lists"),
        (Self::Map, "map", "maps"),
        (Self::Pointer, "pointer", "boxes"),
        (Self::Absent, "absent", "absent values"),
        (Self::Spare, "spare", "unused capacity"),
        (Self::Padding, "padding", "padding"),
        (Self::Other, "other", "other"),
    ];
}

/// A table that the page searches.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    /// The rows. The first cell is a name; the others are numbers or short texts.
    pub rows: Vec<Vec<String>>,
}

const STYLE: &str = r"<style>
:root{color-scheme:light dark;--line:#ddd;--dim:#666;--back:#fff;--ink:#1b1b1b}
@media(prefers-color-scheme:dark){:root{--line:#333;--dim:#aaa;--back:#161616;--ink:#ddd}}
body{font:14px/1.45 system-ui,sans-serif;margin:1.5em auto;max-width:1200px;padding:0 1em;color:var(--ink);background:var(--back)}
h1{font-size:1.3em}h2{font-size:1.05em;margin:1.6em 0 .4em}.dim{color:var(--dim)}
#numbers{display:flex;gap:2.5em;flex-wrap:wrap}#numbers b{display:block;font-size:1.6em}
.icicle{position:relative;margin:.2em 0 1em}
.bar{position:absolute;box-sizing:border-box;height:21px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;padding:0 4px;
border:0;border-right:1px solid var(--back);border-radius:2px;font:12px/20px ui-monospace,monospace;text-align:left;color:#111;cursor:pointer}
.bar:hover,.bar:focus,.bar.found{outline:2px solid var(--ink);z-index:1}
.struct{background:#dddad2}.text{background:#a6cee3}.sequence{background:#b2df8a}.map{background:#fdbf6f}.pointer{background:#cab2d6}
.padding{background:#f2c6c6}.other{background:#e8e8e8}
.absent{background:repeating-linear-gradient(45deg,#dddad2,#dddad2 4px,#fff 4px,#fff 8px)}
.spare{background:repeating-linear-gradient(45deg,#b2df8a,#b2df8a 4px,#fff 4px,#fff 8px)}
.key span{padding:1px 8px;margin-right:6px;border-radius:2px;color:#111}
#detail{border:1px solid var(--line);border-radius:4px;padding:.6em .8em;min-height:3em;font:12px/1.5 ui-monospace,monospace;white-space:pre-wrap}
table{border-collapse:collapse;font:12px/1.5 ui-monospace,monospace;width:100%}
td,th{padding:2px 10px;text-align:right;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
.number{white-space:nowrap}
.histogram{width:auto;margin:.4em 0 1em}.histogram td:first-child{text-align:right;white-space:nowrap}.histogram td:last-child{width:30em;text-align:left}
.histogram i{display:block;height:1em;background:#a6cee3}
td:first-child,th:first-child,.left{text-align:left}thead th{position:sticky;top:0;background:var(--back)}
input{font:inherit;padding:.3em .6em;width:24em;max-width:100%}
</style>
";

const SCRIPT: &str = r##"<script>
"use strict";
const data=JSON.parse(document.getElementById("data").textContent);
const unit=document.body.dataset.unit;
const steps={bytes:["B","kB","MB","GB","TB","PB"],ns:["ns","us","ms","s"]}[unit]||["","k","M","G","T"];
const human=n=>{let at=0;while(n>=999.95&&at<steps.length-1){n/=1000;at++}return (at?n.toFixed(1):n)+" "+steps[at]};
const widest=Math.max(1,...data.map(i=>i.is_alone?0:i.root.bytes));
const scale=i=>i.is_alone?Math.max(1,i.root.bytes):widest;
const detail=document.getElementById("detail");
let query="";
function show(bar,path){detail.textContent=path+"\n"+human(bar.bytes)+" ("+bar.bytes+" "+unit+")"+bar.details.map(d=>"\n"+d[0]+": "+d[1]).join("")}
function draw(plot,icicle,from,whole){
 plot.textContent="";let rows=0;
 const add=(bar,left,row,path)=>{
  const l=(left-from)/whole,w=bar.bytes/whole;
  if(l+w<=0||l>=1||w<4e-4)return;
  rows=Math.max(rows,row+1);
  const b=document.createElement("button");
  const x=Math.max(0,l),r=Math.min(1,l+w);
  b.className="bar "+bar.class+(query&&path.toLowerCase().includes(query)?" found":"");
  b.style.left=x*100+"%";b.style.width=(r-x)*100+"%";b.style.top=row*22+"px";
  b.textContent=bar.name;b.title=path+" "+human(bar.bytes);
  b.onclick=()=>{show(bar,path);draw(plot,icicle,left,bar.bytes===icicle.root.bytes&&row===0?scale(icicle):bar.bytes)};
  plot.append(b);
  let at=left;
  for(const inner of bar.bars){add(inner,at,row+1,path+inner.name);at+=inner.bytes}
 };
 add(icicle.root,0,0,icicle.root.name);
 plot.style.height=rows*22+"px";
}
const plots=[];
for(const [index,icicle] of data.entries()){const plot=document.getElementById("plot"+index);plots.push([plot,icicle]);}
const all=()=>{for(const [plot,icicle] of plots)draw(plot,icicle,0,scale(icicle))};
const box=document.getElementById("search");
function search(){
 query=box.value.trim().toLowerCase();let shown=0;
 for(const row of document.querySelectorAll("#table tbody tr")){row.hidden=query!==""&&!row.textContent.toLowerCase().includes(query);if(!row.hidden)shown++}
 document.getElementById("shown").textContent=shown;
 all();
}
box.oninput=search;
addEventListener("keydown",e=>{if(e.key==="Escape")all()});
box.value=decodeURIComponent(location.hash.replace(/^#q=/,""));
search();
</script>
"##;

impl Page {
    /// Renders the page.
    pub fn html(&self) -> String {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width\">\n");
        out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
        let (title, unit) = (escaped(&self.title), self.unit.name());
        let _ = writeln!(out, "<title>{title}</title>\n{STYLE}</head><body data-unit=\"{unit}\">\n<h1>{title}</h1>");
        out.push_str("<div id=\"numbers\">");
        for (label, number) in &self.numbers {
            let _ = write!(out, "<div><b>{}</b>{}</div>", escaped(number), escaped(label));
        }
        out.push_str("</div>\n");
        for note in &self.notes {
            let _ = writeln!(out, "<p class=\"dim\">{}</p>", escaped(note));
        }
        self.write_icicles(&mut out);
        self.write_suggestions(&mut out);
        self.write_changes(&mut out);
        self.write_histograms(&mut out);
        self.write_table(&mut out);
        // An escaped `<` cannot end the element.
        let data = serde_json::to_string(&self.icicles).unwrap_or_default().replace('<', "\\u003c");
        let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{data}</script>\n{SCRIPT}</body></html>");
        out
    }

    fn write_suggestions(&self, out: &mut String) {
        out.push_str("<h2>What to change, largest saving first</h2>\n");
        if self.suggestions.is_empty() {
            let _ = writeln!(out, "<p>No change that saves {} was found.</p>", self.saves.what());
            return;
        }
        let first = self.suggestions.len().min(FIRST);
        let (first, rest) = self.suggestions.split_at(first);
        rows(out, first, self.saves);
        if !rest.is_empty() {
            let number = plural(rest.len() as u64, "suggestion");
            let _ = writeln!(out, "<details><summary>{number} with smaller savings</summary>");
            rows(out, rest, self.saves);
            out.push_str("</details>\n");
        }
    }

    fn write_icicles(&self, out: &mut String) {
        if self.icicles.is_empty() {
            return;
        }
        let (what, verb) = (self.unit.what(), if self.unit == Unit::Bytes { "are" } else { "is" });
        let _ = write!(
            out,
            "<h2>Where the {what} {verb}</h2>\n<p class=\"dim\">A bar is as wide as its {what} and that of the bars below \
             it. Click a bar to see what it is and to widen it; Escape goes back.</p>\n<p class=\"key\">"
        );
        for (_, class, text) in Class::ALL {
            let _ = write!(out, "<span class=\"{class}\">{text}</span>");
        }
        out.push_str("</p>\n");
        for (index, icicle) in self.icicles.iter().enumerate() {
            let _ = writeln!(
                out,
                "<div>{}, {}</div><div class=\"icicle\" id=\"plot{index}\"></div>",
                escaped(&icicle.title),
                self.unit.shown(icicle.root.bytes)
            );
        }
        out.push_str("<div id=\"detail\" class=\"dim\">Click a bar.</div>\n");
    }

    fn write_changes(&self, out: &mut String) {
        let Some((title, table)) = &self.changes else { return };
        let _ = writeln!(out, "<h2>{}</h2>", escaped(title));
        if table.rows.is_empty() {
            out.push_str("<p>No difference: the same types and fields hold the same bytes.</p>\n");
            return;
        }
        let (first, rest) = table.rows.split_at(table.rows.len().min(CHANGES));
        write_rows(out, "changes", &table.head, first);
        if !rest.is_empty() {
            let _ = writeln!(out, "<details><summary>{} more</summary>", rest.len());
            write_rows(out, "more-changes", &table.head, rest);
            out.push_str("</details>\n");
        }
    }

    fn write_histograms(&self, out: &mut String) {
        if self.histograms.is_empty() {
            return;
        }
        out.push_str("<h2>Sizes and lengths</h2>\n");
        for histogram in &self.histograms {
            let most = histogram.bars.iter().map(|bar| bar.1).max().unwrap_or(1).max(1);
            let _ = writeln!(out, "<div>{}</div><table class=\"histogram\"><tbody>", escaped(&histogram.title));
            for (label, count) in &histogram.bars {
                // At least 1 %, so that the bar is visible.
                let width = (u128::from(*count) * 100 / u128::from(most)).max(1);
                let _ = writeln!(
                    out,
                    "<tr><td>{}</td><td>{count}</td><td><i style=\"width:{width}%\"></i></td></tr>",
                    escaped(label)
                );
            }
            out.push_str("</tbody></table>\n");
        }
    }

    fn write_table(&self, out: &mut String) {
        let rows = self.table.rows.len();
        let _ = writeln!(
            out,
            "<h2>Full table</h2>\n<p><input id=\"search\" type=\"search\" placeholder=\"search\" aria-label=\"search\"> <span id=\"shown\">{rows}</span> of {rows} rows</p>"
        );
        write_rows(out, "table", &self.table.head, &self.table.rows);
    }
}

fn write_rows(out: &mut String, id: &str, head: &[String], rows: &[Vec<String>]) {
    let _ = write!(out, "<table id=\"{id}\"><thead><tr>");
    for name in head {
        let _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}

/// The number of changes shown by default.
const CHANGES: usize = 30;
/// The number of suggestions shown by default.
const FIRST: usize = 12;

fn rows(out: &mut String, suggestions: &[Suggestion], unit: Unit) {
    out.push_str(
        "<table><thead><tr><th>where</th><th class=\"left\">before</th><th class=\"left\">after</th><th>saves</th>\
         <th class=\"left\">reason and cost</th></tr></thead><tbody>\n",
    );
    for one in suggestions {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"left\">{}</td><td class=\"left\">{}</td><td class=\"number\">{}</td><td class=\"left\">{}</td></tr>",
            escaped(&one.location),
            escaped(&one.before),
            escaped(&one.after),
            unit.shown(one.saves),
            escaped(&one.why),
        );
    }
    out.push_str("</tbody></table>\n");
}

/// Escapes `text` for an element or a quoted attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_data_is_escaped() {
        let hostile = "</script><img src=x onerror=alert(1)>\"&";
        let page = Page {
            unit: Unit::Bytes,
            saves: Unit::Bytes,
            title: hostile.into(),
            numbers: vec![(hostile.into(), hostile.into())],
            notes: vec![hostile.into()],
            suggestions: vec![Suggestion { location: hostile.into(), ..Suggestion::default() }],
            icicles: vec![Icicle {
                title: hostile.into(),
                root: Bar { name: hostile.into(), bytes: 1, ..Bar::default() },
                is_alone: true,
            }],
            histograms: vec![Histogram { title: hostile.into(), bars: vec![(hostile.into(), 1)] }],
            changes: Some((hostile.into(), Table { head: vec![hostile.into()], rows: vec![vec![hostile.into()]] })),
            table: Table { head: vec![hostile.into()], rows: vec![vec![hostile.into()]] },
        };
        let html = page.html();
        assert!(!html.contains("<img"));
        assert_eq!(html.matches("</script>").count(), 2);
    }

    #[test]
    fn page_loads_no_external_resources() {
        let html = Page::default().html();
        assert!(
            !html.contains("://") && !html.contains("src=") && !html.contains("@import") && !html.contains("<link")
        );
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn each_class_has_a_colour() {
        for (class, name, _) in Class::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{name}\""));
            assert!(STYLE.contains(&format!(".{name}{{background")), "{name}");
        }
    }
}
