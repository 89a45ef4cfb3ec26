//! Keeps many manifests of packages.

use cargo_toml::Manifest;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut manifests: Vec<Manifest> = Vec::new();
    for n in 0..count {
        let mut text = format!(
            "[package]\nname = \"package-{n}\"\nversion = \"1.{n}.0\"\nedition = \"2021\"\nlicense = \"MIT\"\ndescription = \"About {n}\"\n\
             [features]\ndefault = [\"std\"]\nstd = []\n[profile.release]\nlto = true\n[dependencies]\n"
        );
        for m in 0..12 {
            text.push_str(&format!("dependency-{m} = {{ version = \"0.{m}\", features = [\"a\", \"b\"], optional = {} }}\n", m % 3 == 0));
        }
        manifests.push(Manifest::from_str(&text).expect("it is a manifest"));
    }
    let dependencies: usize = manifests.iter().map(|manifest| manifest.dependencies.len()).sum();
    println!("{dependencies} dependencies");
}
