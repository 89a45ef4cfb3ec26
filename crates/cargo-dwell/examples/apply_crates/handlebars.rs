//! Keeps many compiled templates.

use handlebars::Handlebars;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut registry = Handlebars::new();
    for n in 0..count {
        let text = format!(
            "<h1>{{{{title}}}} {n}</h1>{{{{#each users as |user|}}}}<li>{{{{user.name}}}} {{{{#if user.active}}}}on{{{{else}}}}off{{{{/if}}}}</li>\
             {{{{/each}}}}{{{{lookup map \"key{n}\"}}}}{{{{#with a.b.c}}}}{{{{../d}}}}{{{{/with}}}}"
        );
        registry.register_template_string(&format!("page{n}"), text).expect("it is a template");
    }
    println!("{} templates", registry.get_templates().len());
}
