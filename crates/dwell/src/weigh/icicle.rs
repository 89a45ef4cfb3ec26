//! A tree as an HTML page with an icicle plot. The page loads nothing and is readable without scripts.
#![forbid(unsafe_code)]

use super::render::{Html, TITLE, bytes, cells, class, count, header, put};
use super::tree::Tree;
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// The plot omits bars narrower than this fraction of its width. The table includes them.
const LEAST: f64 = 0.000_5;
/// The height of a row in pixels.
const ROW: usize = 22;

const HEAD: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em;color:#222;background:#fff}
h1{font-size:1.2em;margin:0 0 .2em}p{margin:.2em 0 1em;color:#555}
#plot{position:relative;overflow:hidden;margin-bottom:1.5em}
.bar{position:absolute;box-sizing:border-box;height:21px;overflow:hidden;white-space:nowrap;padding:1px 4px;
border:0;border-right:1px solid #fff;border-radius:2px;font:12px/18px ui-monospace,monospace;text-align:left;color:#111;cursor:pointer}
.bar:hover,.bar:focus{outline:2px solid #222;z-index:1}
.text{background:#a6cee3}.sequence{background:#b2df8a}.map{background:#fdbf6f}.pointer{background:#cab2d6}
.struct{background:#dddad2}.other{background:#eee}
table{border-collapse:collapse;font:12px/1.5 ui-monospace,monospace}
td,th{padding:1px 10px;text-align:right;border-bottom:1px solid #eee}td:first-child,th:first-child{text-align:left}
thead th{position:sticky;top:0;background:#fff}
.key span{padding:1px 6px;margin-right:6px;border-radius:2px;color:#111}
:root{color-scheme:light dark}
@media(prefers-color-scheme:dark){body,thead th{color:#ddd;background:#161616}p{color:#aaa}td,th{border-color:#333}
.bar{border-right-color:#161616}.bar:hover,.bar:focus{outline-color:#fff}.struct{background:#b8b4aa}.other{background:#999}}
</style>
"#;

/// Zooms on click. The page is readable without it.
const SCRIPT: &str = r#"<script>
const bars=[...document.querySelectorAll(".bar")];
function zoom(x,w){for(const b of bars){const l=(b.dataset.x-x)/w,r=l+b.dataset.w/w;
const left=Math.max(0,l),right=Math.min(1,r);b.style.display=right-left>1e-6?"":"none";
b.style.left=left*100+"%";b.style.width=(right-left)*100+"%"}}
for(const b of bars)b.addEventListener("click",()=>zoom(+b.dataset.x,+b.dataset.w));
addEventListener("keydown",e=>{if(e.key==="Escape")zoom(0,1)});
</script>
"#;

impl Tree {
    /// Returns an HTML page with an icicle plot.
    ///
    /// Each node is a bar. Its width is proportional to the bytes of the blocks of the node and its descendants.
    ///
    /// The page is one file that loads nothing and is readable without scripts: each bar has a tooltip, and a table follows
    /// the plot. A click on a bar zooms in.
    pub fn to_html(&self) -> String {
        page(self)
    }
}

fn page(tree: &Tree) -> String {
    let mut page = String::from(HEAD);
    let title = tree.title(0);
    put(
        &mut page,
        format_args!(
            "<title>{0}</title></head><body>\n<h1>{0}</h1>\n<p>{1}. ",
            Html(&title),
            Html(&format!("{}", tree.weight))
        ),
    );
    page.push_str(
        "The width of a bar is the bytes of the heap blocks below it. Click a bar to zoom in; press Escape or click the first \
         bar to zoom out.</p>\n\
         <p class=\"key\"><span class=\"struct\">struct, enum</span><span class=\"map\">map</span>\
         <span class=\"sequence\">vector</span><span class=\"text\">string</span>\
         <span class=\"pointer\">pointer</span><span class=\"other\">other</span></p>\n",
    );
    plot(tree, &mut page);
    table(tree, &mut page);
    page.push_str(SCRIPT);
    page.push_str("</body></html>\n");
    page
}

fn plot(tree: &Tree, page: &mut String) {
    let below = tree.heap_below();
    let whole = below[0].max(1) as f64;
    let mut bars = String::new();
    // The left edge of the next bar, for each depth.
    let mut next: Vec<f64> = Vec::from([0.0]);
    let mut depths = 0;
    tree.each(&mut |depth, index| {
        let width = below[index] as f64 / whole;
        let left = next[depth];
        next.truncate(depth);
        next.push(left + width);
        next.push(left);
        if width < LEAST && index != 0 {
            return;
        }
        depths = depths.max(depth + 1);
        let node = &tree.nodes[index];
        let title = tree.title(index);
        let more = format!(
            "{title}\n{} below, {} of its own in {} blocks, {} unused\n{} of {} slots filled",
            bytes(below[index]),
            bytes(node.heap),
            count(node.allocations),
            bytes(node.waste),
            count(node.filled),
            count(node.slots),
        );
        put(
            &mut bars,
            format_args!(
                "<button class=\"bar {}\" data-x=\"{left:.6}\" data-w=\"{width:.6}\" \
                 style=\"left:{:.4}%;width:{:.4}%;top:{}px\" title=\"{}\">{} {}</button>\n",
                class(node),
                left * 100.0,
                width * 100.0,
                depth * ROW,
                Html(&more),
                Html(&title),
                bytes(below[index])
            ),
        );
    });
    put(page, format_args!("<div id=\"plot\" style=\"height:{}px\">\n{bars}</div>\n", depths * ROW));
}

fn table(tree: &Tree, page: &mut String) {
    page.push_str("<table><thead><tr><th></th>");
    cells(page, "<th>", &header(&TITLE)[1..], "</th>");
    page.push_str("</tr></thead><tbody>\n");
    let below = tree.heap_below();
    tree.shown(&mut |depth, index| {
        let columns = tree.columns(index, below[index]);
        put(page, format_args!("<tr><td style=\"padding-left:{}em\">{}</td>", depth, Html(&columns[0])));
        cells(page, "<td>", &columns[1..], "</td>");
        page.push_str("</tr>\n");
    });
    page.push_str("</tbody></table>\n");
}
