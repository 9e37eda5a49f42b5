// page_diff.js - what changed between two recordings: a flame graph of both, and
// the table of the changes that chance and loss do not explain.
//
// page_diff.h describes the data; a page of one recording has none. The labels
// of frames that are in the other recording only are added to model.labels, so
// that search and menus know them.
const diff = loadDiff();

function loadDiff()
{
	const block = document.getElementById("diff");

	if (!block)
		return null;

	const d = JSON.parse(block.textContent), n = d.nodes;
	const r = reader("diff_nodes");
	const known = new Map();
	const keyOfLabel = (name, kind, file) =>
		JSON.stringify([name, kind[0], file]);
	const depth = new Uint32Array(n), label = new Uint32Array(n);

	model.labels.forEach((l, i) =>
		known.set(keyOfLabel(l.full, l.kind, l.file), i)
		     .set(keyOfLabel(l.full, l.kind, ""), i));

	const ids = d.labels.map(([name, kind, kernel, file]) => {
		const at = known.get(keyOfLabel(name, kind, file));

		return at !== undefined ? at : model.labels.push({
			name: name, kind: kind, kernel: kernel === 1,
			file: file, off: "", build: "", source: "", bogus: 0,
			places: 0, reason: "" }) - 1;
	});

	d.side = [0, 1].map(() => ({ weight: new Float64Array(n),
				     samples: new Float64Array(n) }));
	d.missing = new Uint8Array(n);
	for (let i = 0; i < n; i++) {
		depth[i] = r.next();
		label[i] = ids[r.next()];
		["weight", "samples"].forEach(k => d.side.forEach(s => {
			s[k][i] = r.next();
		}));
		d.missing[i] = r.next();
	}
	d.tree = Object.assign(treeOf(depth), { label: label });
	d.side.forEach(s => {
		s.self = ownOf(d.tree, s.weight);
		s.selfSamples = ownOf(d.tree, s.samples);
	});
	d.change = new Map(d.changes.map(c => [c[0], {
		self: { change: c[1], p: c[2], excess: c[3] },
		total: { change: c[4], p: c[5], excess: c[6] } }]));
	return d;
}

// Returns what ends at each node, of sums with all that is above.
function ownOf(t, sum)
{
	const own = sum.slice();

	for (let i = 1; i < t.n; i++)
		own[t.parent[i]] -= sum[i];
	return own;
}

const changeOf = (at, by) => diff.change.has(at) ? diff.change.get(at)[by] :
	{ change: 0, p: 1, excess: 0 };

// Returns the size of a node on a side: its share, or with --absolute its
// weight.
function sizeOf(at, side, by)
{
	const s = diff.side[side];
	const w = by === "self" ? s.self[at] : s.weight[at];

	return diff.absolute ? w : 100 * w / s.weight[0];
}

const inSize = v => diff.absolute ? grouped(v) : percent(v, 100);
const inSteps = v => (v < 0 ? "\u2212" : "+") + (diff.absolute ?
	grouped(Math.abs(v)) : Math.abs(v).toFixed(2) + " points");

// ---- the picture

// Returns a colour between two, of n equal steps.
function shade(from, to, part, light)
{
	return "rgb(" + from.map((v, i) =>
		Math.round((v + (to[i] - v) * part) * light)).join(",") + ")";
}

function diffColor(at)
{
	const c = changeOf(at, view.diff.by);
	const light = darkScreen.matches ? 0.6 : 1;
	const part = diff.most ? Math.abs(c.excess) / diff.most : 0;

	if (c.change > 0)
		return shade([255, 205, 195], [226, 48, 40], part, light);
	if (c.change < 0)
		return shade([200, 218, 255], [44, 92, 226], part, light);

	const grey = 206 + (diff.tree.label[at] * 7) % 8 * 4;

	return shade([grey, grey, grey - 6], [0, 0, 0], 0,
		     darkScreen.matches ? 0.5 : 1);
}

function diffFacts(at)
{
	const lines = [model.labels[diff.tree.label[at]].name];

	["self", "total"].forEach(by => {
		const c = changeOf(at, by);
		const a = sizeOf(at, 0, by), b = sizeOf(at, 1, by);
		const n = diff.side.map(s => grouped(by === "self" ?
			s.selfSamples[at] : s.samples[at]));

		// the share of all is always 100 %
		const judged = diff.absolute || by === "self" || at > 0;

		lines.push(by + ": A " + n[0] + " samples, B " + n[1] +
			   " samples; " + inSize(a) + " to " + inSize(b) +
			   ", " + inSteps(b - a) + (!judged ? "" :
			   diff.missing[at] ?
			   ", not known: user stacks are missing" :
			   !c.change ? ", not significant" : ", " +
			   (c.change > 0 ? "more" : "less") + " (p " +
			   c.p.toExponential(1) + ")"));
	});
	return lines;
}

function makeDiffFlame()
{
	const g = makeFlame("diff_flame", 0.5, false);

	return Object.assign(g, {
		colorOf: diffColor,
		facts: diffFacts,
		details: "diff_details",
		zoom: () => view.diff.zoom,
		go: at => go({ diff: Object.assign({}, view.diff,
						   { zoom: at }) })
	});
}

// ---- the table

const DIFF_ROWS = 40;

// Returns the names from the root's child to a node.
function pathOf(at)
{
	const names = [];

	for (let i = at; i > 0; i = diff.tree.parent[i])
		names.unshift(model.labels[diff.tree.label[i]].name);
	return names;
}

function fillChanges()
{
	const by = view.diff.by, body = $("changed").tBodies[0];
	const rows = Array.from(diff.change.keys()).filter(at =>
		changeOf(at, by).change);

	rows.sort((a, b) => Math.abs(changeOf(b, by).excess) -
		  Math.abs(changeOf(a, by).excess) || a - b);
	body.textContent = "";
	rows.slice(0, DIFF_ROWS).forEach(at => {
		const c = changeOf(at, by), tr = body.insertRow();
		const path = pathOf(at);
		const name = element("button", path[path.length - 1], "link");
		const a = sizeOf(at, 0, by), b = sizeOf(at, 1, by);

		name.title = path.join(" > ");
		name.addEventListener("click", () => diffFlame.go(at));
		tr.insertCell().append(name);
		tr.append(element("td", inSize(a), "n"),
			  element("td", inSize(b), "n"),
			  element("td", inSteps(b - a), "n " +
				  (c.change > 0 ? "more" : "less")),
			  element("td", c.p.toExponential(1), "n"));
	});
	$("changed_found").textContent = rows.length > DIFF_ROWS ?
		"the first " + DIFF_ROWS + " of " + grouped(rows.length) : "";
}

// ---- the panel

function saySides()
{
	return ["A", "B"].map((name, i) => {
		const [path, lost, more, without] = diff.sides[i];

		return name + ": " + path + ", " +
			grouped(diff.side[i].samples[0]) + " samples" +
			(without ? ", " + grouped(without) +
			 " without user half" : "") +
			(lost || more ? ", " + grouped(lost) +
			 " records lost" + (more ? " and an unknown number more" :
					    "") : "");
	}).join("; ");
}

function sayResult()
{
	const by = view.diff.by;
	const count = sign => Array.from(diff.change.keys()).filter(at =>
		changeOf(at, by).change === sign).length;
	const more = count(1);

	return "significant: " + more + (more === 1 ? " frame" : " frames") +
		" more in B, " + count(-1) + " less, by the " +
		(diff.absolute ? "numbers" : "shares") + " of " +
		(by === "self" ? "own" : "total") +
		" samples; false-positive rate: at most 1 %";
}

function diffButton(id, text, title, change)
{
	const b = element("button", text);

	b.id = id;
	b.title = title;
	b.addEventListener("click", () =>
		go({ diff: Object.assign({}, view.diff, change()) }));
	return b;
}

function makeChanges()
{
	const section = element("section"), space = element("div", undefined,
							    "space");
	const graph = element("div", undefined, "graph");
	const canvas = element("canvas"), table = element("table");
	const line = element("p", undefined, "line"), wide = element("div");
	const head = table.createTHead().insertRow();

	section.id = "changes";
	line.append(
		diffButton("diff_side", "Widths of A", "widths are those of the " +
			   "first recording: shows what is gone", () =>
			({ side: 1 - view.diff.side, zoom: 0 })),
		diffButton("diff_by", "By total", "what a frame has with what " +
			   "it called", () =>
			({ by: view.diff.by === "self" ? "total" : "self" })),
		diffButton("diff_out", "All of it", "no zoom", () =>
			({ zoom: 0 })));
	canvas.id = "diff_flame";
	canvas.tabIndex = 0;
	canvas.setAttribute("role", "application");
	canvas.setAttribute("aria-roledescription", "flame graph");
	canvas.ariaLabel = "what changed; arrow keys walk, Enter zooms";
	space.append(canvas);
	graph.append(space);
	table.id = "changed";
	["Function", "A", "B", "Change", "p"].forEach((text, i) =>
		head.append(element("th", text, i ? "n" : "")));
	table.createTBody();
	wide.className = "wide";
	wide.append(table);
	section.append(element("h2", "What changed: " + diff.event),
		       element("p", saySides(), "quiet"),
		       Object.assign(element("p"), { id: "diff_says" }), line,
		       graph, Object.assign(element("p"),
					    { id: "diff_details" }), wide,
		       Object.assign(element("p", "", "quiet"),
				     { id: "changed_found" }));
	$("app").prepend(section);
}

function showDiff()
{
	if (!diff)
		return;

	const by = view.diff.by, side = diff.side[view.diff.side];

	diff.most = Array.from(diff.change.keys()).reduce((m, at) =>
		changeOf(at, by).change ?
			Math.max(m, Math.abs(changeOf(at, by).excess)) : m, 0);
	$("diff_says").textContent = sayResult();
	$("diff_side").ariaPressed = String(view.diff.side === 0);
	$("diff_by").ariaPressed = String(by === "total");
	$("diff_out").disabled = view.diff.zoom === 0;
	diffFlame.lay(diff.tree, side,
		      side.weight[view.diff.zoom] ? view.diff.zoom : 0);
	$("diff_details").textContent = diffFacts(view.diff.zoom).join(" \u2014 ");
	fillChanges();
}

if (diff)
	makeChanges();
const diffFlame = diff ? makeDiffFlame() : null;
