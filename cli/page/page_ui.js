// page_ui.js - views and their history, search, lists, texts.
//
// What is shown is a function of `view` alone (described in page_model.js).
// go() makes a new view and keeps the old one for undo(); show() draws it.
// Names come from captures, so they are only written with textContent or
// drawn.

// Returns the bins of an event, [first, last], if the strip would be mostly
// empty with all of the capture; else null.
const ownSpans = [];
function ownSpan(event)
{
	if (ownSpans[event] === undefined)
		ownSpans[event] = findSpan(event);
	return ownSpans[event];
}

function findSpan(event)
{
	const s = model.sample, w = model.wait, parts = model.parts[event];
	let lo = Infinity, hi = -1;
	const add = (from, to) => {
		lo = Math.min(lo, from);
		hi = Math.max(hi, to);
	};

	for (let i = 0; i < s.n; i++)
		if (s.time[i] && parts.includes(model.group.event[s.group[i]]))
			add(s.time[i] - 1, s.time[i] - 1);
	for (let i = 0; parts.includes(model.waits.event) && i < w.n; i++)
		add(Math.floor(w.from[i] / model.binNs),
		    Math.floor((w.from[i] + w.ns[i]) / model.binNs));
	if (hi < 0 || (hi + 1 - lo) * 2 > model.bins - model.first)
		return null;

	const edge = Math.ceil((hi + 1 - lo) / 20);

	return [Math.max(lo - edge, model.first),
		Math.min(hi + edge, model.bins - 1)];
}

const start = Object.freeze({
	event: model.event, time: null, threads: null, cpus: null,
	verdicts: null, frames: [], reverse: false, took: null, heat: false,
	span: ownSpan(model.event), zoom: 0, func: null, alone: false,
	tracks: model.run.n > 0, lane: null, wait: null,
	diff: Object.freeze({ by: "self", side: 1, zoom: 0 })
});
let view = start;
let sel = null;		// result of select(view)
let order = "self";
let current = flame;	// the graph that keys act on

const unit = () => model.events[view.event][1];
const isTraced = () =>	// traced_kinds[]
	/^(function_graph|cyg_profile|probes|slices|function)$/
		.test(model.events[view.event][0]);
const heavy = w => isTraced() && unit() === "ns" ? inTime(w) :
	grouped(w) + " " + unit();
// What is counted: samples, waits, calls, or several of them.
const things = n => {
	if (isLatency(view.event) || isTraced())
		return grouped(n) + (isTraced() ? " call" : " interval") +
			(n === 1 ? "" : "s");

	const parts = model.parts[view.event];
	const off = parts.includes(model.waits.event);

	return grouped(n) + (n === 1 ? off ? parts.length > 1 ?
		" sample or wait" : " wait" : " sample" :
		off ? parts.length > 1 ? " samples and waits" : " waits" :
		" samples");
};
const cpuName = c => c ? "CPU " + (c - 1) : "no CPU";
const verdictName = i => model.verdicts[i][0];
const threadName = i => model.threads[i][0] +
	(model.threads[i][1] < 0 ? "" : " " + model.threads[i][1]);

// Makes an element; more: its other properties.
function element(name, text, className, more)
{
	const e = Object.assign(document.createElement(name), more);

	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

// Shows text in which the names of options are not broken at their hyphens.
function sayWords(e, text)
{
	e.replaceChildren(...text.split(/(^|[ '(])(-[-\w]{1,39})/).map((w, i) =>
		i % 3 === 2 ? element("span", w, "option") : w));
}

function go(change)
{
	const next = Object.assign({}, view, change);

	if (JSON.stringify(keyOf(next)) === JSON.stringify(keyOf(view)))
		return;
	past.push(view);
	future.length = 0;
	view = next;
	show();
}

// Returns a view as an array for JSON: sets become sorted lists.
function keyOf(v)
{
	const list = s => s && Array.from(s).sort((a, b) => a - b);

	return [v.event, v.time, list(v.threads), list(v.cpus),
		list(v.verdicts), v.frames.map(f => [f.label, f.keep ? 1 : 0]),
		v.reverse ? 1 : 0, v.took, v.heat ? 1 : 0, v.span, v.zoom, v.func, v.alone ? 1 : 0,
		v.tracks ? 1 : 0, v.lane, v.wait, v.diff];
}

const startOf = event => Object.assign({}, start,
	{ event: event, span: ownSpan(event), heat: isLatency(event) });
const reset = () => go(startOf(view.event));

function toggle(name, id)
{
	const now = new Set(view[name] || []);

	if (!now.delete(id))
		now.add(id);
	go({ [name]: now.size ? now : null });
}

function filter(at, keep)
{
	const l = current.tree.label[at];

	if ((at > 0 || current !== flame) && view.frames.length < 30)
		go({ frames: view.frames.filter(f => f.label !== l)
			.concat({ label: l, keep: keep }) });
}

let selected = null;	// the view that sel is of, as text
function show()
{
	const turned = view.reverse && view.func === null;
	const key = JSON.stringify([keyOf(view).slice(0, 8), turned,
				    view.alone]);

	useTree(turned, view.alone);

	const fresh = key !== selected;

	if (fresh) {
		sel = select(view, key);
		selected = key;
		showChips();
	}
	if (view.zoom >= model.node.n || !sel.weight[view.zoom])
		view = Object.assign({}, view, { zoom: 0 });
	search();
	drawTime();
	showGraphs();
	drawMap();
	showDiff();
	// what is written last does not make the browser lay out what is
	// measured above
	if (fresh) {
		showFacets();
		listLanes();
		// the first table is there, without its buttons
		if (restoring && view.event === model.event)
			setTimeout(showHot);
		else
			showHot();
		countTables();
		showLongest();
	}
	showTime();
	showWait();
	showSame();
	pressed();
	$("undo").disabled = !past.length;
	$("redo").disabled = !future.length;
	$("reset").disabled = JSON.stringify(keyOf(view)) ===
		JSON.stringify(keyOf(startOf(view.event)));
	sayWhole();
	remember();
}

// Shows all stacks, or callers and callees of a function.
function showGraphs()
{
	const one = view.func !== null;

	$("graph").hidden = one;
	$("sandwich").hidden = !one;
	current = one ? callees : flame;
	if (!one && view.lane !== null) {
		const o = timeOrder(view, flame.measure());

		flame.lay(o.tree, o, 0, o.rows);
		return;
	}
	if (!one) {
		flame.lay(model.node, sel, view.zoom);
		return;
	}

	const a = around(sel, view.func);
	const l = model.labels[view.func];

	callers.lay(a.callers.tree, a.callers, 0);
	callees.lay(a.callees.tree, a.callees, 0);
	$("func").textContent = l.name;
	$("func").title = l.full;
	$("func_says").textContent = percent(a.callees.weight[0], sel.weight[0]) +
		" of what is shown with what it calls, " +
		percent(a.callees.self[0], sel.weight[0]) + " in itself" +
		(l.file ? "; " + l.file : "");
	showListing();
}

// The map is there when a part of the merged stacks is out of sight.
function drawMap()
{
	const box = flame.frame;

	$("map").hidden = view.func !== null || view.lane !== null ||
		(!view.zoom && flame.height <= box.clientHeight + ROW);
	if (!$("map").hidden)
		map.draw(flame, model.node, sel, view.zoom);
}

const graphs = () => (view.func === null ? [flame] : [callers, callees])
	.concat(diffFlame || []);

function paint()
{
	graphs().forEach(g => g.draw());
	drawMap();
	drawTime();
}

function drawTime()
{
	if (!model.bins)
		return;
	tracks.makeRoom();
	strip.draw(view);
	heat.draw(view);
	tracks.draw();
}

function sayWhole()
{
	const at = view.zoom;
	const of = sel.whole === sel.weight[0] ? "all" :
		percent(sel.weight[0], sel.whole) + " of all";
	const n = flame.deeper;
	const parts = [things(sel.samples[0]) + ", " +
		heavy(sel.weight[0]) + ": " + of];

	if (view.func === null && view.lane !== null)
		parts.push("the picture: " + things(flame.sel.list.n) +
			   " in order of time; a click zooms to a frame, - goes back");
	else if (view.func === null && at)
		parts.push("zoomed to " + flame.label(at).name + ", " +
			   percent(sel.weight[at], sel.weight[0]) + " of that");
	if (view.func === null && flame.narrow)
		parts.push(percent(flame.narrow, 1) + " of it has innermost " +
			   "frames too narrow to be drawn");
	if (view.func === null && n)
		parts.push(n + (n > 1 ? " towers are" : " tower is") +
			   " deeper than " + DEEP + " rows: click the frame " +
			   "with \u2026 to go on");
	$("details").textContent = parts.join("; ");
}

const stateWord = {
	"S": "asleep", "D": "asleep, not to be interrupted",
	"R": "ready to run", "R+": "preempted, ready to run", "I": "idle",
	"T": "stopped", "t": "stopped by a tracer", "P": "parked"
};

// Returns what is known about a frame, as lines.
function factsOf(g, at)
{
	const l = g.label(at);
	const lines = [l.full];

	if (l.file)
		lines.push(l.file + (l.off ? "+" + l.off : "") +
			   (l.build ? ", build-id " + l.build + ".." : ""));
	if (l.source)
		lines.push(l.source);
	if (l.kind === "e")
		lines.push("of the program that came by exec after the " +
			   "sample: not its caller");
	if (l.kind[0] === "w")
		lines.push(stateWord[/ ([A-Za-z]\+?)\]/.exec(l.name)?.[1]] ||
			   "off the CPU");
	if (l.says)
		lines.push(l.says);
	if (l.reason)
		lines.push("fabricated: " + (l.reason === "no_code" ?
			"there is no code at this return address" :
			"no call is in front of this return address"));
	else if (l.bogus)
		lines.push(l.bogus + " of its " + l.places +
			   " places: no call can return to there");

	const s = g.sel, self = s.self[at];
	const inferred = s === sel ? inferredWeight(at) : 0;

	if (inferred)
		lines.push("inferred from the code, not recorded: " +
			   percent(inferred, s.weight[at]) + " of it");

	if (s.list)
		lines.push(timesOf(s, at));

	lines.push(things(s.samples[at]) + ", " +
		   heavy(s.weight[at]) + ", " +
		   percent(s.weight[at], sel.weight[0]) +
		   (self && self < s.weight[at] ? ", " +
		    percent(self, sel.weight[0]) + " in itself" : ""));
	return lines;
}

// What was searched for and found, as a view without another choice keeps it.
let searched = { text: "", sel: null, tree: null };
function search()
{
	const text = JSON.stringify([pattern, ignoreCase]);

	if (text === searched.text && sel === searched.sel &&
	    model.node === searched.tree)
		return;
	if (text !== searched.text)
		findHits();
	searched = { text: text, sel: sel, tree: model.node };
	sayFound();
}

// Sets hits, null if there is no pattern or none that can be searched for.
function findHits()
{
	const matches = pattern ? matcher() : null;

	hits = matches && model.labels.map(l =>
		matches(l.name) || matches(l.full));
	$("search").classList.toggle("wrong", Boolean(pattern) && !matches);
}

function sayFound()
{
	$("found").textContent = pattern ? "not a regular expression" : "";
	if (!hits)
		return;

	const [sum, n] = sumHits(model.node, i => sel.weight[i], i =>
		hits[model.node.label[i]]);

	$("found").textContent = n ? percent(sum, sel.weight[0]) + " in " +
		grouped(n) + (n === 1 ? " place" : " places") : "no match";
}

function lookExactly(name)
{
	look("^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$");
}

function look(text)
{
	pattern = text;
	if ($("search").value !== text)
		$("search").value = text;
	search();
	graphs().forEach(g => g.draw());
	drawMap();
	remember();
}

const LIST_MAX = 100;
function fillList(name, weights, nameOf, hintOf)
{
	const ul = $(name);
	const focus = ul.contains(document.activeElement) ?
		document.activeElement.value : null;
	const most = weights.reduce((a, b) => a > b ? a : b, 0);
	const whole = weights.reduce((a, b) => a + b, 0);
	const wanted = name === "threads" ? $("which").value.toLowerCase() : "";
	const ids = Array.from(weights.keys()).filter(i =>
		(weights[i] > 0 || (view[name] && view[name].has(i))) &&
		nameOf(i).toLowerCase().includes(wanted));

	ids.sort((a, b) => weights[b] - weights[a] || a - b);
	ul.textContent = "";
	ids.slice(0, LIST_MAX).forEach(i => {
		const li = element("li");
		const row = element("label", undefined, "", { title: hintOf(i) });
		const box = element("input", undefined, "", {
			type: "checkbox", value: String(i),
			checked: Boolean(view[name] && view[name].has(i)),
			onchange: () => toggle(name, i)
		});

		row.style.setProperty("--part", most ? 100 * weights[i] / most +
				      "%" : "0");
		row.append(box, element("span", nameOf(i), "name"),
			   element("span", percent(weights[i], whole), "n"));
		li.append(row);
		ul.append(li);
		// keep the keyboard focus in the list
		if (focus === box.value)
			box.focus();
	});
	if (ids.length > LIST_MAX)
		ul.append(element("li", ids.length - LIST_MAX + " more",
				  "quiet"));
}

function showFacets()
{
	// silent about deferral where nothing was deferred: 0 is no request
	$("verdicts").parentNode.hidden = !view.verdicts &&
		!sel.verdicts.some((w, i) => i > 0 && w > 0);
	fillList("verdicts", sel.verdicts, verdictName, i =>
		model.verdicts[i][1]);
	// nor about CPUs where none was recorded
	$("cpus").parentNode.hidden = !view.cpus &&
		!sel.cpus.some((w, i) => i > 0 && w > 0);
	fillList("cpus", sel.cpus, cpuName, () => "");
	fillList("threads", sel.threads, threadName, i =>
		"process " + model.threads[i][2]);
}

function chip(text, change)
{
	$("chips").append(element("button", text + " \u00d7", "chip", {
		title: "take this back", onclick: () => go(change)
	}));
}

function showChips()
{
	const words = (set, nameOf) => {
		const list = Array.from(set, nameOf);

		return list.slice(0, 3).join(", ") +
			(list.length > 3 ? " and " + (list.length - 3) +
			 " more" : "");
	};

	$("chips").textContent = "";
	if (view.time)
		chip(since(nsOf(view.time[0])) + " to " +
		     since(lastOf(view.time[1])) + " s", { time: null });
	if (view.took)
		chip(lengthWords(view.took), { took: null });
	[["verdicts", verdictName], ["cpus", cpuName], ["threads", threadName]]
		.forEach(([name, nameOf]) => view[name] &&
			chip(words(view[name], nameOf), { [name]: null }));
	view.frames.forEach(f =>
		chip((f.keep ? "only " : "without ") +
		     model.labels[f.label].name,
		     { frames: view.frames.filter(o => o !== f) }));
}

let hotRows = 50;	// the browser takes long to lay out a table
const kindWord = { u: "user", k: "kernel", i: "inlined", j: "jit", n: "unnamed",
		   m: "missing", e: "after exec", w: "off-CPU" };
// A function has one row, whether or not its frame can have been one.
const rowKind = l => l.kind !== "b" ? l.kind[0] : l.inlined ? "i" :
	l.kernel ? "k" : l.file === "[jit]" ? "j" : l.off ? "u" : "n";

function addHot(body, f, i)
{
	const tr = body.insertRow();
	const l = model.labels[i];
	const add = (text, c) => tr.append(element("td", text, c));

	add(share(f.self[i], sel.weight[0]), "n");
	add(share(f.total[i], sel.weight[0]), "n");
	add(grouped(f.samples[i]), "n");
	add(kindWord[rowKind(l)]);
	tr.insertCell().append(element("button", lineName(l.name), "link", {
		title: (l.name === l.full ? "" : l.full + "\n") +
			"callers and callees",
		onclick: () => sandwich(i)
	}));
	add(imageName(l.file));
	tr.lastChild.title = l.file;
}

// Returns for each label the place of its name or file among all.
const ranks = {};
function rankOf(key)
{
	if (!ranks[key]) {
		const all = Array.from(new Set(model.labels.map(l => l[key])))
			.sort((a, b) => a < b ? -1 : 1);
		const place = new Map(all.map((text, i) => [text, i]));

		ranks[key] = model.labels.map(l => place.get(l[key]));
	}
	return ranks[key];
}

// Returns the first n ids in order, without putting all in order: by(id) is
// largest for the first.
function firstOf(ids, n, by, compare)
{
	const values = new Float64Array(ids.length);

	for (let i = 0; i < ids.length; i++)
		values[i] = by(ids[i]);
	values.sort();

	const least = values[Math.max(values.length - n, 0)];

	return ids.filter(i => by(i) >= least).sort(compare).slice(0, n);
}

function showHot()
{
	const body = $("hot").tBodies[0];
	const f = sel.count.by || (sel.count.by = functions(sel));
	const wanted = $("hot_search").value.toLowerCase();
	const ids = Array.from(f.total.keys()).filter(i => f.total[i] > 0 &&
		model.labels[i].kind[0] !== "g" && (!wanted ||
		(model.labels[i].name + "\n" + model.labels[i].full)
			.toLowerCase().includes(wanted)));
	const text = order === "name" || order === "file";
	const by = text ? i => -rankOf(order)[i] : i => f[order][i];

	body.textContent = "";
	firstOf(ids, hotRows, by, (a, b) => by(b) - by(a) ||
		f.total[b] - f.total[a] || a - b).forEach(i =>
		addHot(body, f, i));
	$("hot_found").textContent = grouped(ids.length) + " functions" +
		(ids.length > hotRows ? ", the first " + hotRows + " here" : "");
	$("hot_more").hidden = ids.length <= hotRows;
}

// Makes the headings buttons and adds a search above.
function sortable()
{
	const heads = Array.from($("hot").tHead.rows[0].cells);
	const line = element("p", undefined, "line");

	line.append(element("input", undefined, "", {
		type: "search", id: "hot_search", placeholder: "part of a name",
		ariaLabel: "search the table of functions",
		oninput: later(120, showHot)
	}), element("button", "More", "", {
		id: "hot_more", hidden: true,
		onclick: () => {
			hotRows *= 4;
			showHot();
		}
	}), element("span", "", "quiet", { id: "hot_found" }));
	$("hot").parentNode.before(line);
	["self", "total", "samples", "", "name", "file"].forEach((word, i) => {
		const sort = () => {
			order = word;
			heads.forEach(h => h.removeAttribute("aria-sort"));
			heads[i].ariaSort = i < 3 ? "descending" : "ascending";
			showHot();
		};

		if (word)
			heads[i].replaceChildren(element("button",
				heads[i].textContent, "link", { onclick: sort }));
	});
	heads[0].ariaSort = "descending";
}

function sandwich(l)
{
	go({ func: l });
	$("sandwich").scrollIntoView({ block: "nearest" });
}

function showTime()
{
	if (!model.bins)
		return;
	$("from").value = since(nsOf(view.time ? view.time[0] : model.first));
	$("to").value = since(lastOf(view.time ? view.time[1] :
				     model.bins - 1));
	$("all").disabled = !view.time && !view.span;
	$("closer").disabled = strip.span[0] >= strip.span[1];
	$("farther").disabled = !view.span;
}

// Lets the strip show the chosen time only, or else the middle half of what it
// shows.
function closer()
{
	const [a, b] = strip.span;
	const n = Math.floor((b - a + 1) / 4);
	const t = view.time, s = view.span;

	if (t && !(s && t[0] === s[0] && t[1] === s[1]))
		go({ span: t });
	else if (a < b)
		go({ span: [a + n, Math.max(a + n, b - n)] });
}

// Lets the strip show four times its range.
function farther()
{
	if (!view.span)
		return;

	const n = (view.span[1] - view.span[0] + 1) * 1.5;
	const lo = Math.max(model.first, Math.floor(view.span[0] - n));
	const hi = Math.min(model.bins - 1, Math.ceil(view.span[1] + n));

	go({ span: lo > model.first || hi < model.bins - 1 ? [lo, hi] : null });
}

const reverse = () => 
	go({ reverse: !view.reverse, zoom: 0, func: null });

// Shows the stacks of the heaviest lane by time, or all merged again.
const inOrder = () => model.bins && go({
	lane: view.lane === null ? sel.threads.indexOf(
		sel.threads.reduce((a, b) => a > b ? a : b, 0)) : null,
	func: null, zoom: 0
});

const showTracks = () => model.bins && go({ tracks: !view.tracks });

const collapse = () => go({ alone: !view.alone, zoom: 0 });

// Chooses all threads that match the field above the list.
function chooseFound()
{
	const wanted = $("which").value.toLowerCase();
	const ids = model.threads.map((t, i) => i).filter(i =>
		sel.threads[i] > 0 &&
		threadName(i).toLowerCase().includes(wanted));

	go({ threads: wanted && ids.length ? new Set(ids) : null });
}

function choose(a, b)
{
	if (Number.isNaN(a) || Number.isNaN(b))
		showTime();
	else
		go({ time: [Math.min(a, b), Math.max(a, b)] });
}

// Returns a duration such as "50 us".
function inWords(ns)
{
	const u = [[1000000000n, "s"], [1000000n, "ms"], [1000n, "us"],
		   [1n, "ns"]].find(x => ns >= x[0]);

	return ns / u[0] + " " + u[1];
}

function showSame()
{
	const quote = s => /^[\w./:@%,=+-]+$/.test(s) ? s :
		"'" + s.replace(/'/g, "'\\''") + "'";
	const off = model.parts[view.event].includes(model.waits.event);
	const words = ["backstitch", "flame"].concat(
		isLatency(view.event) ? ["--latency",
			model.events[view.event][0].replace(/ latency$/, "")] :
		!off ? ["--event", quote(model.events[view.event][0])] :
		model.parts[view.event].length > 1 ? "--wall" : "--off-cpu");

	if (view.time)
		words.push("--time", seconds(nsOf(view.time[0])) + "," +
			   seconds(lastOf(view.time[1])));
	if (view.cpus && !view.cpus.has(0))
		words.push("-C", Array.from(view.cpus, c => c - 1).join(","));
	if (view.threads)
		words.push("--tid", Array.from(new Set(Array.from(view.threads,
			i => model.threads[i][1]))).join(","));
	if (view.reverse)
		words.push("--reverse");
	if (view.alone)
		words.push("--collapse-recursion");
	words.push("-o", "flame.svg", quote(document.title));
	sayWords($("same"), words.join(" "));
	// flame takes waits whole that begin within --time, has no filter for
	// what is on no CPU, and merges stacks; which options the page was made
	// with is not known
	$("command").hidden = Boolean(!model.plain || view.verdicts ||
				      view.frames.length ||
				      view.took ||
				      view.func !== null ||
				      view.lane !== null || (off && view.time) ||
				      (view.cpus && view.cpus.has(0)));
}

function pressed()
{
	$("case").ariaPressed = String(ignoreCase);
	$("flip").ariaPressed = String(flame.icicle);
	$("reverse").ariaPressed = String(view.reverse);
	$("alone").ariaPressed = String(view.alone);
	$("rows").ariaPressed = String(view.tracks);
	$("warm").ariaPressed = String(view.heat);
	$("event").value = String(view.event);
	const trust = document.querySelector("#banner .trust");

	if (trust.textContent !== model.trust[view.event])
		trust.textContent = model.trust[view.event];
	$("lane").value = view.lane === null ? "" : String(view.lane);
}

function flip()
{
	flame.icicle = !flame.icicle;
	flame.frame.scrollTop = flame.icicle ? 0 : flame.height;
	pressed();
	paint();
	remember();
}
