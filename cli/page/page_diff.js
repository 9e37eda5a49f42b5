// page_diff.js - what changed between two recordings: a flame graph of both, and
// the table of the changes that chance and loss do not explain.
//
// page_data.h describes the data; a page of one recording has none. The labels
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
	const keyOfLabel = (name, kernel, file, kind) => JSON.stringify([name,
		kernel, kernel ? "" : imageName(file), kind === "b"]);
	const depth = new Uint32Array(n), label = new Uint32Array(n);

	model.labels.forEach((l, i) =>
		known.set(keyOfLabel(l.name, l.kernel, l.file, l.kind), i));

	const ids = d.labels.map(([name, kind, kernel, file]) => {
		const at = known.get(keyOfLabel(name, kernel === 1, file, kind));

		return at !== undefined ? at : model.labels.push({
			name: name, full: name, kind: kind,
			kernel: kernel === 1,
			file: file, off: "", build: "", source: "", bogus: 0,
			places: 0, reason: "", says: "",
			gap: name === "[caller missing]" }) - 1;
	});

	d.side = [0, 1].map(() => ({ weight: new Float64Array(n),
				     samples: new Float64Array(n) }));
	d.row = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		depth[i] = r.next();

		const at = r.next();

		label[i] = ids[at];
		d.row[i] = d.labels[at][4];
		["weight", "samples"].forEach(k => d.side.forEach(s => {
			s[k][i] = r.next();
		}));
	}
	d.tree = Object.assign(treeOf(depth), { label: label });
	d.side.forEach(s => {
		s.self = ownOf(d.tree, s.weight);
		s.selfSamples = ownOf(d.tree, s.samples);
	});
	d.functions = d.functions.map(([name, image, unknown, self, total]) =>
		({ name: name, image: image, unknown: unknown,
		   self: judged(self), total: judged(total) }));
	return d;
}

// Names the numbers of page_diff_put_place().
function judged([a, b, samplesA, samplesB, change, p, excess, doubtful, only])
{
	return { weight: [a, b], samples: [samplesA, samplesB], change: change,
		 p: p, excess: excess, doubtful: doubtful, only: only };
}

// Returns the word for a change, as diff_rows_word().
const changeWord = c => c.only > 0 ? "new" : c.only < 0 ? "gone" :
	c.change > 0 ? "more" : c.change < 0 ? "less" : "";

// Returns what ends at each node, of sums with all that is above.
function ownOf(t, sum)
{
	const own = sum.slice();

	for (let i = 1; i < t.n; i++)
		own[t.parent[i]] -= sum[i];
	return own;
}

// Returns the function of a node; undefined of a frame that is no code.
const judgedFunction = at => diff.functions[diff.row[at]];

// The cause shows the change of its total: itself it may have none.
const measureOf = row => row === diff.cause_row ? "total" : view.diff.by;

const changeOf = at => diff.row[at] < 0 ? 0 :
	judgedFunction(at)[measureOf(diff.row[at])].change;

// Returns a weight on a side as a share, or with --absolute as the mean of its
// runs.
const sizeOf = (weight, side) => diff.absolute ?
	Math.round(weight / diff.runs[side]) : 100 * weight / diff.weights[side];

const inSize = v => diff.times ? inTime(v) : diff.absolute ? grouped(v) :
	percent(v, 100);
const inSteps = v => (v < 0 ? "\u2212" : "+") + (diff.absolute ?
	inSize(Math.abs(v)) : Math.abs(v).toFixed(2) + " points");

// Returns a colour between two, of n equal steps.
function shade(from, to, part, light)
{
	return "rgb(" + from.map((v, i) =>
		Math.round((v + (to[i] - v) * part) * light)).join(",") + ")";
}

// Returns how much larger a frame is in B than the unchanged rest predicts.
function excessOf(at)
{
	const [a, b] = diff.side.map(s => (measureOf(diff.row[at]) === "self" ?
					   s.self : s.weight)[at]);

	return sizeOf(b - a * diff.scale, 1);
}

function diffColor(at)
{
	const change = changeOf(at);
	const light = darkScreen.matches ? 0.6 : 1;
	const part = change && diff.most ?
		Math.max(0, excessOf(at) * change) / diff.most : 0;

	if (change > 0)
		return shade([255, 205, 195], [226, 48, 40], part, light);
	if (change < 0)
		return shade([200, 218, 255], [44, 92, 226], part, light);

	const doubtful = diff.row[at] < 0 ? 0 :
		judgedFunction(at)[measureOf(diff.row[at])].doubtful;

	if (doubtful)
		return css(doubtful > 0 ? "--maybe-more" : "--maybe-less");
	// what has a pattern keeps it
	if ("meb".includes(model.labels[diff.tree.label[at]].kind))
		return "";

	const grey = 206 + (diff.tree.label[at] * 7) % 8 * 4;

	return shade([grey, grey, grey - 6], [0, 0, 0], 0,
		     darkScreen.matches ? 0.5 : 1);
}

// Returns what a weight of A would be in B, if it had not changed.
const sameOf = weight => sizeOf(weight * diff.scale, 1);

// Returns "self: A 46 samples, B 147 samples; 12.17 % to 30.43 %, 11.02 % if
// same, +19.41 points".
function sayNumbers(word, samples, weight)
{
	const [a, b] = weight.map(sizeOf), same = sameOf(weight[0]);

	return word + ": A " + grouped(samples[0]) + " samples, B " +
		grouped(samples[1]) + " samples; " + inSize(a) + " to " +
		inSize(b) + ", " + (diff.absolute || Math.abs(same - a) < 0.005 ?
				    "" : inSize(same) + " if same, ") +
		inSteps(b - same);
}

function sayChange(f, by)
{
	const c = f[by];

	return sayNumbers(by, c.samples, c.weight) + (f.unknown ?
		", not known: " + f.unknown :
		!c.change ? ", not significant" +
		(c.doubtful ? " (p " + c.p.toPrecision(2) + ")" : "") : ", " +
		changeWord(c) + (c.only ? " by symbols" :
				 " (p " + c.p.toExponential(1) + ")"));
}

function diffFacts(at)
{
	const label = model.labels[diff.tree.label[at]];
	const lines = [label.name];
	const f = judgedFunction(at), here = f ? "here, " : "";
	const own = k => diff.side.map(s => s[k][at]);
	const isAll = f && [0, 1].every(i =>
		f.self.weight[i] === own("self")[i] &&
		f.total.weight[i] === own("weight")[i]);

	if (label.kind === "b")
		lines.push("fabricated: no call returns there");
	if (f)
		lines.push(sayChange(f, "self"), sayChange(f, "total"));
	if (!isAll)
		lines.push(sayNumbers(here + "self", own("selfSamples"),
				      own("self")),
			   sayNumbers(here + "total", own("samples"),
				      own("weight")));
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
		go: at => goDiff({ zoom: at })
	});
}

const DIFF_ROWS = 40, DIFF_UNPROVED = 10;

const sayChance = p => p < 1 ? p.toExponential(1) : "";

// Returns the largest frame of a function on the side whose widths are shown,
// else on the other one.
function placeOfFunction(row)
{
	const side = view.diff.side;
	const widest = s => diff.row.reduce((best, r, at) => r === row &&
		(best < 0 || s.weight[at] > s.weight[best]) ? at : best, -1);
	const at = widest(diff.side[side]);

	return diff.side[side].weight[at] ? [at, side] :
		[widest(diff.side[1 - side]), 1 - side];
}

function goToFunction(row)
{
	const [at, side] = placeOfFunction(row);

	goDiff({ zoom: at, side: side });
}

function fillChanges()
{
	const by = view.diff.by, body = $("changed").tBodies[0];
	const all = diff.functions.map((f, row) => row);
	// the largest ones tell where to look, though chance can explain them
	const size = row => Math.abs(diff.functions[row][by].excess);
	const some = all.filter(row => size(row) &&
		diff.functions[row][by].change || row === diff.cause_row);
	const rows = some.length ? some : all.filter(size);
	const most = some.length ? DIFF_ROWS : DIFF_UNPROVED;

	rows.sort((a, b) => (b === diff.cause_row) - (a === diff.cause_row) ||
		  size(b) - size(a) || a - b);
	body.textContent = "";
	rows.slice(0, most).forEach(row => {
		const f = diff.functions[row];
		const c = f[row === diff.cause_row ? "total" : by];
		const tr = body.insertRow();
		const [a, b] = c.weight.map(sizeOf);
		const same = sameOf(c.weight[0]);

		tr.insertCell().append(element("button", f.name, "link",
			{ onclick: () => goToFunction(row) }));
		tr.append(element("td", f.image),
			  element("td", inSize(a), "n"),
			  element("td", inSize(b), "n"),
			  element("td", inSize(same), "n"),
			  element("td", inSteps(b - same), "n " +
				  (c.change > 0 ? "more" :
				   c.change < 0 ? "less" : "")),
			  element("td", sayChance(c.p), "n"),
			  element("td", f.unknown ? "not known" :
				  c.only ? changeWord(c) :
				  c.change ? "" : "not significant"));
	});
	$("changed_found").textContent = rows.length <= most ? "" :
		(some.length ? "the first " : "the largest ") + most + " of " +
		grouped(rows.length);
}

// Returns paragraphs: first whether the recordings can be compared at all.
function saySides()
{
	const lines = diff.alone ? [element("p", diff.alone, "bad")] : [];

	if (diff.images)
		lines.push(element("p", diff.images, "quiet"));
	diff.sides.forEach(([side, trust]) =>
		lines.push(element("p", trust ? side + ". " + trust.slice(3) :
				   side, "quiet")));
	return lines;
}

const goDiff = change => go({ diff: Object.assign({}, view.diff, change) });
const diffButton = (id, text, title, change) => element("button", text, "", {
	id: id, title: title, onclick: () => goDiff(change())
});

// What the colours of diffColor() mean.
const makeDiffLegend = () => makeKey([["--more", "more in B"], ["--less", "less in B"],
	["--maybe-more", ""], ["--maybe-less", "larger than the noise, not proved"],
	["--same", "no significant change"]]);

function makeChanges()
{
	const section = element("section", undefined, "", { id: "changes" });
	const space = element("div", undefined, "space");
	const graph = element("div", undefined, "graph");
	const canvas = element("canvas", undefined, "", {
		id: "diff_flame", tabIndex: 0, role: "application",
		ariaRoleDescription: "flame graph",
		ariaLabel: "what changed; arrow keys walk, Enter zooms"
	});
	const table = element("table", undefined, "", { id: "changed" });
	const line = element("p", undefined, "line");
	const wide = element("div", undefined, "wide");
	const head = table.createTHead().insertRow();

	line.append(
		diffButton("diff_side", "Widths of A", "widths are those of the " +
			   "first recording: shows what is gone", () =>
			({ side: 1 - view.diff.side, zoom: 0 })),
		diffButton("diff_by", "By total", "what a function has with " +
			   "what it called", () =>
			({ by: view.diff.by === "self" ? "total" : "self" })),
		diffButton("diff_out", "All of it", "no zoom", () =>
			({ zoom: 0 })));
	space.append(canvas);
	graph.append(space);
	["Function", "Image", "A", "B", "If same", "Change", "p", ""].forEach((text, i) =>
		head.append(element("th", text, i > 1 && text ? "n" : "")));
	table.createTBody();
	wide.append(table);
	section.append(element("h2", "What changed: " + diff.event),
		       sides.says ? element("p", sides.says, "answer") : "",
		       ...saySides(),
		       ...makeSides(),
		       element("p", diff.cause),
		       element("p", "", "", { id: "diff_says" }), line,
		       graph, makeDiffLegend(),
		       element("p", "", "", { id: "diff_details" }), wide,
		       element("p", "", "quiet", { id: "changed_found" }),
		       ...makeLengths());
	$("app").prepend(section);
}

function showDiff()
{
	if (!diff)
		return;

	const by = view.diff.by, side = diff.side[view.diff.side];

	const size = at => excessOf(at) * changeOf(at);

	diffFlame.most = diff.row.reduce((most, row, at) => changeOf(at) &&
		(most < 0 || size(at) > size(most)) ? at : most, -1);
	diff.most = diffFlame.most < 0 ? 0 : Math.max(size(diffFlame.most), 0);
	$("diff_says").textContent = diff.says[by === "self" ? 0 : 1];
	$("diff_side").ariaPressed = String(view.diff.side === 0);
	$("diff_by").ariaPressed = String(by === "total");
	$("diff_out").disabled = view.diff.zoom === 0;
	diffFlame.lay(diff.tree, side,
		      side.weight[view.diff.zoom] ? view.diff.zoom : 0);
	$("diff_details").textContent = diffFacts(view.diff.zoom).join(" \u2014 ");
	fillChanges();
	drawSides();
}

if (diff)
	makeChanges();
const diffFlame = diff ? makeDiffFlame() : null;
