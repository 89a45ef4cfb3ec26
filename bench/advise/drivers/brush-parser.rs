//! Parses a long script, and counts what its parts print.
use brush_parser::{ParserOptions, TokenizerOptions, parse_tokens, uncached_tokenize_str};

fn main() {
    let part = |number: usize| {
        format!(
            "function step_{number}() {{\n  local file=\"$1\" count={number}\n  if [[ -f \"$file\" ]]; then\n    while read -r line; do\n      \
             case \"$line\" in\n        \\#*) continue ;;\n        item{number}*) echo \"${{line#item}}\" | grep -v x | sort >> \"/tmp/out.{number}\" ;;\n        *) count=$((count + 1)) ;;\n      esac\n    \
             done < \"$file\"\n  else\n    for name in a b c{number}; do rm -f \"$name\" && echo removed $name; done\n  fi\n}}\nstep_{number} data/{number}.txt || exit 1\n"
        )
    };
    let scripts: Vec<String> = (0..60).map(|script| (0..20).map(|number| part(script * 20 + number)).collect()).collect();
    let mut programs = Vec::new();
    for script in &scripts {
        let tokens = uncached_tokenize_str(script, &TokenizerOptions::default()).unwrap();
        programs.push(parse_tokens(&tokens, &ParserOptions::default()).unwrap());
    }
    println!("{}", programs.iter().map(|program| program.complete_commands.len()).sum::<usize>());
}
