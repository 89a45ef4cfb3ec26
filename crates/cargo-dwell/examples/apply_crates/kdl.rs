//! Keeps parsed documents.

use kdl::KdlDocument;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut documents: Vec<KdlDocument> = Vec::new();
    for n in 0..count {
        let mut text = String::new();
        for m in 0..20 {
            text.push_str(&format!("package \"p{n}-{m}\" version=\"1.{m}\" {{\n    author \"somebody\" active=#true\n    size {m}\n}}\n"));
        }
        documents.push(text.parse().expect("it is KDL"));
    }
    let nodes: usize = documents.iter().map(|document| document.nodes().len()).sum();
    println!("{nodes} nodes");
}
