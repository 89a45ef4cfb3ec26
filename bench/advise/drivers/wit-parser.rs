//! Parses and resolves packages with many interfaces.
use wit_parser::Resolve;

fn main() {
    let mut resolve = Resolve::default();
    for package in 0..120 {
        let mut text = format!("package test:p{package}@1.0.{package};\n\n");
        for interface in 0..10 {
            text.push_str(&format!("/// The interface {interface}.\ninterface api{interface} {{\n"));
            for item in 0..6 {
                text.push_str(&format!(
                    "  /// A record.\n  record item{item} {{ id: u64, name: string, tags: list<string>, parent: option<u32> }}\n  \
                     variant kind{item} {{ none, some(item{item}), many(list<item{item}>) }}\n  \
                     /// Gets it.\n  get{item}: func(id: u64, kind: kind{item}) -> result<item{item}, string>;\n"
                ));
            }
            text.push_str("}\n\n");
        }
        text.push_str("world app {\n  import api0;\n  import api1;\n  export api2;\n}\n");
        resolve.push_str(format!("p{package}.wit"), &text).unwrap();
    }
    println!("{} {} {}", resolve.packages.len(), resolve.types.len(), resolve.interfaces.len());
}
