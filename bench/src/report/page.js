"use strict";
const { about, rows } = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

// Words, and what they mean.
const METRICS = {
  ir: ["instructions", "work"], ns: ["time", "time"], cpu_ms: ["CPU time", "time"], ms: ["time", "time"], s: ["time", "time"],
  p50: ["p50", "latency"], p99: ["p99", "latency"], p999: ["p99.9", "latency"], p9999: ["p99.99", "latency"],
  bytes: ["bytes", "memory"], allocs: ["allocations", "memory"], rss: ["resident", "memory"], glibc: ["glibc's bytes", "memory"],
  handle: ["handle", "memory"], jemalloc: ["jemalloc's bytes", "memory"],
};
const name = metric => METRICS[metric]?.[0] ?? metric;
// Counts are the same on every run; times within this much are called even.
const even = metric => (["work", "memory"].includes(METRICS[metric]?.[1]) ? 1.02 : 1.05);
// What is shown to know the ground, and competes with nothing.
const ground = subject => /^loop$|^allocator$|^value alone|^nodes alone$|^no_box|^inline$|, mimalloc$/.test(subject);
const ours = subject => /^dwell/.test(subject) && !ground(subject);
const kind = subject => (ours(subject) ? "ours" : ground(subject) ? "base" : "peer");

const escaped = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const unique = list => [...new Set(list)];
const grouped = (list, key) => {
  const groups = new Map();
  for (const item of list) {
    const of = key(item);
    if (!groups.has(of)) groups.set(of, []);
    groups.get(of).push(item);
  }
  return groups;
};
const digits = value => {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return (value / 1e6).toPrecision(3) + " M";
  return size >= 1000 ? Math.round(value).toLocaleString("en") : size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
};
const times = ratio => (ratio >= 100 ? digits(ratio) : ratio >= 10 ? ratio.toFixed(1) : ratio >= .1 ? ratio.toFixed(2) : ratio.toPrecision(2)) + "×";
const made = html => {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  return holder.content.firstChild;
};

const measured = rows.filter(row => row.module !== "about" && !/_(low|high)$/.test(row.metric));
// Counts are without the loop, as their ratios are.
const bare = new Map(measured.filter(row => row.metric === "ir" && /^loop\b/.test(row.subject)).map(row => [[row.module, row.workload, /, mimalloc$/.test(row.subject)].join("\t"), row.value]));
for (const row of measured) if (row.metric === "ir" && !/^loop\b/.test(row.subject)) row.value -= bare.get([row.module, row.workload, /, mimalloc$/.test(row.subject)].join("\t")) ?? 0;
const ranges = new Map(rows.filter(row => /_(low|high)$/.test(row.metric)).map(row => [[row.module, row.workload, row.subject, row.metric].join("\t"), row.ratio]));
const range = row => ["low", "high"].map(end => ranges.get([row.module, row.workload, row.subject, `${row.metric}_${end}`].join("\t")));
const modules = unique(measured.map(row => row.module));

// What Dwell takes of what the best peer takes, of each workload and metric.
const duels = [];
// Who counts less than is there is no measure for how long counting takes.
const right = row => row.module !== "weigh" || !(measured.find(other => other.module === "weigh" && other.metric === "error" && other.workload === row.workload && other.subject === row.subject)?.value > 1);
for (const list of grouped(measured, row => [row.module, row.workload, row.metric].join("\t")).values()) {
  const [{ module, workload, metric }] = list;
  // What `weigh` says of bytes is right or wrong, not little or much; p99.99 of a million samples is a hundred of them.
  if (!METRICS[metric] || metric === "p9999" || (module === "weigh" && metric !== "ms" && metric !== "ir")) continue;
  const able = list.filter(row => row.ratio !== null && Number.isFinite(row.ratio) && row.ratio > 0);
  const least = of => of.reduce((best, row) => (best && best.ratio <= row.ratio ? best : row), null);
  // The type as a user meets it; where only variants were measured, the best of them.
  const mine = able.find(row => row.subject === "dwell") ?? least(able.filter(row => ours(row.subject)));
  const peer = least(able.filter(row => kind(row.subject) === "peer" && right(row)));
  if (mine && peer) duels.push({ module, workload, metric, mine, peer, ratio: mine.ratio / peer.ratio });
}
const outcome = duel => (duel.ratio > even(duel.metric) ? "lost" : duel.ratio < 1 / even(duel.metric) ? "won" : "even");

// Pictures.
const log = (from, to, low, high) => value => from + (to - from) * (Math.log(Math.min(Math.max(value, low), high)) - Math.log(low)) / (Math.log(high) - Math.log(low));
const ticks = (low, high) => {
  const all = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of high / low > 200 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5]) all.push(step * 10 ** power);
  }
  return all.filter(value => value >= low * .999 && value <= high * 1.001);
};
const short = value => (value >= 1e6 ? `${+(value / 1e6).toPrecision(3)}M` : value >= 1e4 ? `${+(value / 1e3).toPrecision(3)}k` : `${+value.toPrecision(3)}`);
const label = (subject, y, width) => {
  const most = Math.floor(width / 6.4);
  const text = subject.length > most ? `${subject.slice(0, most - 1)}…` : subject;
  return `<text x="0" y="${y}" class="${ours(subject) ? "mine" : ground(subject) ? "soft" : ""}">${escaped(text)}<title>${escaped(subject)}</title></text>`;
};
const WIDTH = 500, LEFT = 172, RIGHT = 108, LINE = 19;

// Ratios as bars away from 1, with the range that the median lies in.
function bars(list) {
  const shown = list.filter(row => row.subject !== "loop" && row.ratio !== null && Number.isFinite(row.ratio) && row.ratio > 0);
  if (!shown.length) return "";
  const ends = shown.flatMap(row => [row.ratio, ...range(row)].filter(value => value > 0));
  const low = Math.max(Math.min(.5, ...ends) / 1.12, 1e-4), high = Math.min(Math.max(2, ...ends) * 1.12, 1e4);
  const x = log(LEFT, WIDTH - RIGHT, low, high), bottom = shown.length * LINE + 4;
  let svg = "";
  for (const tick of ticks(low, high)) {
    svg += `<line x1="${x(tick)}" x2="${x(tick)}" y1="0" y2="${bottom}"/>`;
    svg += `<text class="soft" x="${x(tick)}" y="${bottom + 13}" text-anchor="middle">${short(tick)}×</text>`;
  }
  shown.forEach((row, index) => {
    const y = index * LINE + 4, at = x(row.ratio), [from, to] = range(row);
    svg += label(row.subject, y + 11, LEFT - 8);
    svg += `<rect class="${kind(row.subject)}" x="${Math.min(x(1), at)}" y="${y + 1}" width="${Math.max(Math.abs(at - x(1)), 1.5)}" height="${LINE - 7}" rx="2"><title>${escaped(row.subject)}: ${row.ratio.toPrecision(4)} of ${escaped(row.baseline)}</title></rect>`;
    if (from > 0 && to > 0 && to > from) svg += `<line class="range" x1="${x(from)}" x2="${x(to)}" y1="${y + 7}" y2="${y + 7}"/>`;
    svg += `<text x="${WIDTH - 60}" y="${y + 11}" text-anchor="end">${times(row.ratio)}</text>`;
    svg += `<text class="soft" x="${WIDTH}" y="${y + 11}" text-anchor="end">${digits(row.value)}${row.unit && row.unit !== "ir" ? ` ${escaped(row.unit.replace("ticks", "t").replace("bytes", "B"))}` : ""}</text>`;
  });
  svg += `<line class="one" x1="${x(1)}" x2="${x(1)}" y1="0" y2="${bottom}"/>`;
  return `<svg viewBox="0 0 ${WIDTH} ${bottom + 18}" role="img" aria-label="Ratios to ${escaped(shown[0].baseline)}">${svg}</svg>`;
}

// Percentiles of each subject on a line.
function percentiles(list) {
  const subjects = unique(list.map(row => row.subject));
  const of = (subject, metric) => list.find(row => row.subject === subject && row.metric === metric)?.value;
  const values = list.map(row => row.value).filter(value => value > 0);
  const low = Math.min(...values) / 1.2, high = Math.max(...values) * 1.2;
  const x = log(LEFT, WIDTH - 8, low, high), bottom = subjects.length * LINE + 4;
  let svg = "";
  for (const tick of ticks(low, high)) {
    svg += `<line x1="${x(tick)}" x2="${x(tick)}" y1="0" y2="${bottom}"/><text class="soft" x="${x(tick)}" y="${bottom + 13}" text-anchor="middle">${short(tick)}</text>`;
  }
  subjects.forEach((subject, index) => {
    const y = index * LINE + 11, marks = ["p50", "p99", "p999", "p9999"].map(metric => [metric, of(subject, metric)]).filter(mark => mark[1] > 0);
    const look = kind(subject);
    svg += label(subject, y + 4, LEFT - 8);
    svg += `<line class="stem ${look}" x1="${x(marks[0][1])}" x2="${x(marks.at(-1)[1])}" y1="${y}" y2="${y}"/>`;
    for (const [metric, value] of marks) {
      const at = x(value), title = `<title>${escaped(subject)} ${name(metric)}: ${digits(value)}</title>`;
      if (metric === "p50") svg += `<circle class="${look}" cx="${at}" cy="${y}" r="4.5">${title}</circle>`;
      if (metric === "p99") svg += `<rect class="${look}" x="${at - 1.5}" y="${y - 6}" width="3" height="12">${title}</rect>`;
      if (metric === "p999") svg += `<path class="${look}" d="M${at - 5} ${y}l5-5 5 5-5 5z">${title}</path>`;
      if (metric === "p9999") svg += `<circle class="${look}" cx="${at}" cy="${y}" r="3.5" style="fill:var(--card);stroke-width:1.6">${title}</circle>`;
    }
  });
  return `<svg viewBox="0 0 ${WIDTH} ${bottom + 18}" role="img" aria-label="Percentiles">${svg}</svg>`;
}

// Cost against size.
function curves(points, unit) {
  const sizes = points.map(point => point.size), values = points.map(point => point.row.value).filter(value => value > 0);
  const HEIGHT = 240, right = WIDTH - 150;
  const spread = [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
  const x = log(38, right, Math.min(...sizes), Math.max(...sizes)), y = log(HEIGHT - 22, 6, ...spread);
  let svg = "";
  for (const tick of ticks(...spread)) svg += `<line x1="38" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/><text class="soft" x="32" y="${y(tick) + 4}" text-anchor="end">${short(tick)}</text>`;
  for (const size of unique(sizes)) svg += `<text class="soft" x="${x(size)}" y="${HEIGHT - 6}" text-anchor="middle">${short(size)}</text>`;
  const lines = [...grouped(points, point => point.row.subject)].map(([subject, list]) => {
    list.sort((a, b) => a.size - b.size);
    return { subject, list, end: y(list.at(-1).row.value) };
  }).sort((a, b) => a.end - b.end);
  let free = 4;
  for (const line of lines) {
    line.at = Math.max(line.end + 4, free + 12);
    free = line.at;
  }
  // Labels that were pushed below the picture go up again.
  let limit = HEIGHT - 14;
  for (const line of [...lines].reverse()) {
    line.at = Math.min(line.at, limit);
    limit = line.at - 12;
  }
  for (const mine of [false, true]) {
    for (const { subject, list, end, at } of lines.filter(line => ours(line.subject) === mine)) {
      const look = kind(subject), path = list.map((point, index) => `${index ? "L" : "M"}${x(point.size).toFixed(1)} ${y(point.row.value).toFixed(1)}`).join("");
      svg += `<path class="curve ${look}" d="${path}"><title>${escaped(subject)}</title></path>`;
      for (const point of list) svg += `<circle class="${look}" cx="${x(point.size)}" cy="${y(point.row.value)}" r="2.2"><title>${escaped(subject)} at ${point.size}: ${digits(point.row.value)} ${unit}</title></circle>`;
      svg += `<line x1="${right + 3}" x2="${right + 14}" y1="${end}" y2="${at - 4}"/><text x="${right + 17}" y="${at}" class="${ours(subject) ? "mine" : ""}">${escaped(subject)}</text>`;
    }
  }
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Cost against size">${svg}</svg>`;
}

// Sections.
const note = (module, workload) => about.notes.find(of => of.module === module && of.workloads.some(wanted => (wanted.endsWith("*") ? workload.startsWith(wanted.slice(0, -1)) : wanted === workload)));

function summary() {
  const section = made(`<section id="summary"><h2>In a minute</h2><p>Dwell's number divided by that of the <em>best</em> peer of each workload: .5× is half. If only variants of Dwell were measured, the best variant counts as Dwell. A measuring crate with an error of more than 1 % is no peer. Times within 5 % and counts within 2 % are even. Lower is better everywhere.</p><div class="summary"></div></section>`);
  const cards = section.querySelector(".summary");
  for (const module of modules) {
    const list = duels.filter(duel => duel.module === module).sort((a, b) => a.ratio - b.ratio);
    if (!list.length) continue;
    const count = of => list.filter(duel => outcome(duel) === of).length;
    const [won, same, lost] = ["won", "even", "lost"].map(count), best = list[0], worst = list.at(-1);
    const line = (word, duel) => `<dt>${word}</dt><dd><b class="${{ won: "good", lost: "bad", even: "" }[outcome(duel)]}">${times(duel.ratio)}</b></dd><dd>${escaped(duel.workload)}, ${name(duel.metric)} <span class="soft">beside ${escaped(duel.peer.subject)}</span></dd>`;
    const usual = list.filter(duel => duel.mine.baseline === list[0].mine.baseline).map(duel => duel.mine.ratio).sort((a, b) => a - b);
    const middle = usual[usual.length >> 1];
    cards.append(made(`<div class="card"><h3>${escaped(module)} <span>${won} ahead, ${same} even, ${lost} behind</span></h3>
      <div class="score" role="img" aria-label="${won} ahead, ${same} even, ${lost} behind"><i class="won" style="flex:${won}"></i><i class="even" style="flex:${same}"></i><i class="lost" style="flex:${lost}"></i></div>
      <dl>${line("best", best)}${line("worst", worst)}<dt>usual</dt><dd><b>${times(middle)}</b></dd><dd class="soft">beside ${escaped(list[0].mine.baseline)}, the median of ${usual.length}</dd></dl></div>`));
  }
  const lost = duels.filter(duel => outcome(duel) === "lost").sort((a, b) => b.ratio - a.ratio);
  section.append(made(`<h2>Where Dwell is behind</h2>`), made(`<p>${lost.length} of ${duels.length} comparisons, the worst of each module first.</p>`));
  const table = list => `<div class="card tablebox"><table><thead><tr><th>module</th><th>workload</th><th>metric</th><th>Dwell</th><th>best peer</th><th>ratio</th></tr></thead><tbody>${list.map(duel => `<tr><td>${escaped(duel.module)}</td><td>${escaped(duel.workload)}</td><td>${name(duel.metric)}</td><td>${digits(duel.mine.value)} ${escaped(duel.mine.unit)}<small>${escaped(duel.mine.subject)}</small></td><td>${digits(duel.peer.value)} ${escaped(duel.peer.unit)}<small>${escaped(duel.peer.subject)}</small></td><td class="bad">${times(duel.ratio)}</td></tr>`).join("")}</tbody></table></div>`;
  const first = modules.flatMap(module => lost.filter(duel => duel.module === module).slice(0, 3));
  if (first.length) section.append(made(table(first)));
  if (lost.length > first.length) section.append(made(`<details><summary>All ${lost.length}</summary>${table(lost)}</details>`));
  section.append(made(`<h2>Measured on</h2>`));
  const machine = about.machine.map(([what, value]) => `<tr><td>${escaped(what)}</td><td>${escaped(value)}</td></tr>`).join("");
  const versions = about.versions.map(version => escaped(version.join(" "))).join(", ");
  section.append(made(`<div class="card tablebox"><table class="words"><tbody>${machine}<tr><td>command</td><td><code>${escaped(about.command)}</code></td></tr><tr><td>peers</td><td>${versions}</td></tr></tbody></table></div>`));
  return section;
}

function section(module) {
  const own = measured.filter(row => row.module === module);
  const metrics = unique(own.map(row => row.metric)).filter(metric => !/^p\d+$/.test(metric));
  const element = made(`<section id="${escaped(module)}"><h2>${escaped(module)}</h2><p>Ratios to ${unique(own.map(row => row.baseline)).map(of => `<code>${escaped(of)}</code>`).join(" or ")}; instructions are without those of the loop. A thin line is the 95 % confidence interval of the median.</p></section>`);
  if (metrics.length) {
    const tools = made(`<div class="tools"></div>`), grid = made(`<div class="grid"></div>`), filter = made(`<input type="search" placeholder="filter workloads" aria-label="Filter workloads">`);
    let chosen = metrics.includes("ir") ? "ir" : metrics[0];
    const draw = () => {
      const cards = [...grouped(own.filter(row => row.metric === chosen && row.workload.includes(filter.value)), row => row.workload)].map(([workload, list]) => {
        const said = note(module, workload);
        return `<div class="card"><h3>${escaped(workload)}</h3><p class="note">${said ? `${escaped(said.does)} <span title="what stops the optimiser">${escaped(said.stops)}</span>` : ""}</p>${bars(list)}</div>`;
      });
      grid.innerHTML = cards.join("");
      for (const button of tools.querySelectorAll("button")) button.setAttribute("aria-pressed", button.dataset.metric === chosen);
    };
    for (const metric of metrics) {
      const button = made(`<button type="button" data-metric="${metric}">${name(metric)}</button>`);
      button.addEventListener("click", () => { chosen = metric; draw(); });
      tools.append(button);
    }
    filter.addEventListener("input", draw);
    tools.append(filter);
    element.append(made(`<p class="legend"><span><i class="won"></i>Dwell</span><span><i class="peer-key"></i>peers</span><span><i class="base-key"></i>ground, competes with nothing</span></p>`), tools, grid);
    draw();
  }
  const late = own.filter(row => /^p\d+$/.test(row.metric));
  if (late.length) {
    element.append(made(`<h2>Latency</h2>`), made(`<p>An operation in ${escaped(late[0].unit)}, logarithmic: ● p50, ▮ p99, ◆ p99.9, ○ p99.99.</p>`));
    const cards = [...grouped(late, row => row.workload)].map(([workload, list]) => `<div class="card"><h3>${escaped(workload)}</h3>${percentiles(list)}</div>`);
    element.append(made(`<div class="grid">${cards.join("")}</div>`));
  }
  const series = grouped(own.filter(row => ["ir", "ns", "p50", "bytes", "rss"].includes(row.metric) && row.subject !== "loop").flatMap(row => {
    const match = /^(.*\D)(\d+)B?$/.exec(row.workload);
    return match && row.value > 0 ? [{ of: match[1].replace(/\/$/, ""), size: +match[2], row }] : [];
  }), point => `${point.of}\t${point.row.metric}`);
  const grown = [...series.values()].filter(points => unique(points.map(point => point.size)).length >= 3);
  if (grown.length) {
    element.append(made(`<h2>Growth</h2>`), made(`<p>Cost against size; both axes are logarithmic.</p>`));
    element.append(made(`<div class="grid">${grown.map(points => `<div class="card"><h3>${escaped(points[0].of)}, ${name(points[0].row.metric)}</h3>${curves(points, points[0].row.unit)}</div>`).join("")}</div>`));
  }
  element.append(table(own));
  return element;
}

// A line a subject under its workload; a click on a heading sorts.
function table(list) {
  const metrics = unique(list.map(row => row.metric));
  const lines = [...grouped(list, row => `${row.workload}\t${row.subject}`).values()].map(cells => ({ workload: cells[0].workload, subject: cells[0].subject, cells: Object.fromEntries(cells.map(row => [row.metric, row])) }));
  const element = made(`<details><summary>All numbers: ${lines.length} lines</summary><div class="card tablebox"><table><thead><tr><th data-sort="workload">workload</th><th data-sort="subject">subject</th>${metrics.map(metric => `<th data-sort="${metric}">${name(metric)}</th>`).join("")}</tr></thead><tbody></tbody></table></div></details>`);
  const body = element.querySelector("tbody");
  const draw = () => {
    body.innerHTML = lines.map(line => `<tr class="${ours(line.subject) ? "is-ours" : ""}"><td>${escaped(line.workload)}</td><td>${escaped(line.subject)}</td>${metrics.map(metric => {
      const row = line.cells[metric];
      return row ? `<td>${digits(row.value)}${row.ratio > 0 ? `<small>${times(row.ratio)}</small>` : ""}</td>` : "<td></td>";
    }).join("")}</tr>`).join("");
  };
  const heads = [...element.querySelectorAll("th")];
  for (const head of heads) {
    head.tabIndex = 0;
    const sort = () => {
      const by = head.dataset.sort, down = head.getAttribute("aria-sort") === "ascending";
      const key = line => (by === "workload" || by === "subject" ? line[by] : line.cells[by]?.value ?? Infinity);
      lines.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (down ? -1 : 1));
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      draw();
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  }
  draw();
  return element;
}

// The bounds that a verdict rests on, and those that no longer hold.
function rests(claim) {
  const items = claim.rests.map(rest => `<li>${rest.holds === false ? "<b>The verdict no longer fits:</b> " : ""}${escaped(rest.text)}</li>`).join("");
  const open = claim.rests.some(rest => rest.holds === false) ? " open" : "";
  return `<details${open}><summary>What the verdict rests on</summary><ul>${items}</ul></details>`;
}

// The claims of the articles, beside the measurements.
function claims() {
  const element = made(`<section id="claims"><h2>The tables of the articles</h2><p>Each as it was published, then with the code that they published measured here, then Dwell.</p></section>`);
  for (const claim of about.claims) {
    const lines = claim.lines.map(line => `<tr><td>${escaped(line.what)}</td><td>${escaped(line.published)}</td><td>${escaped(line.theirs)}</td><td>${escaped(line.ours)}</td></tr>`).join("");
    element.append(made(`<div class="card tablebox" style="margin-bottom:14px"><h3>${escaped(claim.title)}</h3><p class="note">${escaped(claim.source)}</p><table class="words"><thead><tr><th></th><th>as published</th><th>its code, measured here</th><th>Dwell, measured here</th></tr></thead><tbody>${lines}</tbody></table><p><b>${escaped(claim.verdict)}</b> ${escaped(claim.why)}</p>${rests(claim)}</div>`));
  }
  return element;
}

document.getElementById("made").textContent = `${new Date(about.made * 1000).toISOString().slice(0, 10)} · ${about.machine[0][1]} · ${measured.length.toLocaleString("en")} numbers`;
const sections = [summary(), ...modules.map(section), ...(about.claims?.length ? [claims()] : [])];
main.append(...sections);
const tabs = document.getElementById("tabs");
const show = hash => {
  const id = hash.replace(/^#\//, "");
  const wanted = sections.some(element => element.id === id) ? id : "summary";
  for (const element of sections) element.hidden = element.id !== wanted;
  for (const button of tabs.children) button.setAttribute("aria-pressed", button.dataset.of === wanted);
};
for (const { id } of sections) {
  const button = made(`<button type="button" data-of="${escaped(id)}">${id === "claims" ? "articles" : escaped(id)}</button>`);
  button.addEventListener("click", () => { location.hash = `/${id}`; });
  tabs.append(button);
}
addEventListener("hashchange", () => { show(location.hash); scrollTo(0, 0); });
show(location.hash);

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
root.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; });
document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
