# Prints the names of the tests in a rustfmt-formatted file that start a thread, themselves or in a function of the file.
/^ *#\[test\]/ { test = 1 }
match($0, /^ *(pub(\([a-z]+\))? )?(async )?fn [a-z_0-9]+/) && !name {
    name = substr($0, RSTART, RLENGTH); sub(/.*fn /, "", name)
    match($0, /[^ ]/); end = sprintf("%" (RSTART - 1) "s}", "")
    is_test = test; test = 0
}
name { body[name] = body[name] "\n" $0 }
name && ($0 == end || /\}$/ && body[name] == "\n" $0) { if (is_test) tests[name]; name = "" }
END {
    for (f in body) threaded[f] = body[f] ~ /thread::(spawn|scope|Builder)|block_on_stream|\.spawn\(/
    do { again = 0
        for (f in body) if (!threaded[f]) for (g in body) if (threaded[g] && !(g in tests) && body[f] ~ "[^a-z_0-9]" g "(::<[^>]*>)?\\(") { threaded[f] = again = 1; break }
    } while (again)
    for (f in tests) if (threaded[f]) print f
}
