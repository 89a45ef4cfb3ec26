//! Parses a bill of materials in the tag-value format.
use std::fmt::Write;

fn main() {
    let mut text = String::from("SPDXVersion: SPDX-2.2\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: sample\n\
        DocumentNamespace: http://example.com/sample\nCreator: Tool: sample\nCreated: 2010-01-29T18:30:22Z\n\n");
    for package in 0..4_000 {
        writeln!(text, "PackageName: library-{package}\nSPDXID: SPDXRef-{package}\nPackageVersion: {}.0\nPackageDownloadLocation: \
            https://example.com/{package}.tar.gz\nFilesAnalyzed: false\nPackageLicenseConcluded: MIT\nPackageLicenseDeclared: MIT OR Apache-2.0\n\
            PackageCopyrightText: NOASSERTION\nRelationship: SPDXRef-DOCUMENT CONTAINS SPDXRef-{package}\n", package % 9).unwrap();
    }
    let document = spdx_rs::parsers::spdx_from_tag_value(&text).unwrap();
    println!("{} {}", document.package_information.len(), document.relationships.len());
}
