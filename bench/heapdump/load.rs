//! `load KIND PORT CONNECTIONS SECONDS PER_SECOND`: asks a server on this machine, checks each answer, and prints how long they took.
//! `redis` sets keys and gets them; anything else is the path of a file of 1,000 bytes `x` that an HTTP server has.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// One request, and whether the answer is right.
fn ask(kind: &str, number: u64, stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let line = |stream: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        stream.read_line(&mut line).map(|_| line)
    };
    if kind == "redis" {
        let (key, value) = (format!("session:{}", number / 2), format!("{:0>1$}", number / 2, 20 + number as usize / 2 % 80));
        let words: &[&str] = if number % 2 == 0 { &["set", &key, &value] } else { &["get", &key] };
        let mut text = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| text += &format!("${}\r\n{word}\r\n", word.len()));
        stream.get_mut().write_all(text.as_bytes())?;
        let first = line(stream)?;
        return Ok(if number % 2 == 0 { first == "+OK\r\n" } else { line(stream)? == value + "\r\n" });
    }
    stream.get_mut().write_all(format!("GET {kind} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())?;
    let is_ok = line(stream)?.starts_with("HTTP/1.1 200");
    while line(stream)?.len() > 2 {}
    let mut body = [0; 1000];
    stream.read_exact(&mut body)?;
    Ok(is_ok && body == [b'x'; 1000])
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
    let (kind, port, connections, seconds, rate) = (&*arguments[0], number(1), number(2), number(3), number(4));
    let (mut times, mut failed) = (Vec::new(), 0);
    std::thread::scope(|scope| {
        let one = |connection: u64| {
            let stream = TcpStream::connect(("127.0.0.1", port as u16)).expect("the server listens");
            stream.set_nodelay(true).expect("an option");
            let (mut stream, begun) = (BufReader::new(stream), Instant::now());
            let (mut times, mut failed) = (Vec::new(), 0);
            let pause = Duration::from_secs(connections).div_f64(rate as f64);
            for at in 0.. {
                // By the clock: a request that waits for the one before it has waited.
                let due = pause * at;
                if due > Duration::from_secs(seconds) {
                    break;
                }
                std::thread::sleep(due.saturating_sub(begun.elapsed()));
                match ask(kind, connection << 32 | u64::from(at), &mut stream) {
                    Ok(true) => {}
                    Ok(false) => failed += 1,
                    Err(error) => {
                        eprintln!("{error}");
                        failed += 1;
                        break;
                    }
                }
                times.push(begun.elapsed() - due);
            }
            (times, failed)
        };
        let threads: Vec<_> = (0..connections).map(|connection| scope.spawn(move || one(connection))).collect();
        for thread in threads {
            let (more, wrong) = thread.join().expect("it does not panic");
            times.extend(more);
            failed += wrong;
        }
    });
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
    println!("{} requests, {failed} failed; 50 %: {:.2} ms, 99.9 %: {:.2} ms, longest: {:.2} ms", times.len(), at(0.5), at(0.999), at(1.0));
    std::process::exit(i32::from(failed > 0));
}
