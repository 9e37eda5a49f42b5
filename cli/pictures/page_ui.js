// page_ui.js - views and their history, search, lists, texts.
//
// What is shown is a function of `view` alone (described in page_model.js).
// go() makes a new view and keeps the old one for undo(); show() draws it.
// Names come from captures, so they are only written with textContent or
// drawn.
const start = Object.freeze({
	event: model.event, time: null, threads: null, cpus: null,
	verdicts: null, frames: [], reverse: false, span: null, zoom: 0
});
let view = start;
let sel = null;		// result of select(view)
let order = "self";

const label = at => model.labels[model.node.label[at]];
const unit = () => model.events[view.event][1];
const cpuName = c => c ? "CPU " + (c - 1) : "no CPU";
const threadName = i => model.threads[i][0] +
	(model.threads[i][1] < 0 ? "" : " " + model.threads[i][1]);

function element(name, text, className)
{
	const e = document.createElement(name);

	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

// ---- views

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
		v.reverse ? 1 : 0, v.span, v.zoom];
}

const reset = () => go(Object.assign({}, start, { event: view.event }));

function toggle(name, id)
{
	const now = new Set(view[name] || []);

	if (!now.delete(id))
		now.add(id);
	go({ [name]: now.size ? now : null });
}

function filter(at, keep)
{
	const l = model.node.label[at];

	if (at > 0 && view.frames.length < 30)
		go({ frames: view.frames.filter(f => f.label !== l)
			.concat({ label: l, keep: keep }) });
}

// ---- the whole page for a view

let selected = null;	// the view that sel is of, as text
function show()
{
	const key = JSON.stringify(keyOf(view).slice(0, 8)) + "/" +
		$("strip").clientWidth;

	useTree(view.reverse);

	if (key !== selected) {
		sel = select(view, Math.max($("strip").clientWidth, 50));
		selected = key;
		showFacets();
		showHot();
		showChips();
	}
	if (view.zoom >= model.node.n || !sel.weight[view.zoom])
		view = Object.assign({}, view, { zoom: 0 });
	search();
	flame.focus = -1;
	flame.hover = -1;
	flame.lay(sel, view.zoom);
	if (!flame.icicle)
		$("graph").scrollTop = flame.height;
	paint();
	showTime();
	showSame();
	pressed();
	$("undo").disabled = !past.length;
	$("redo").disabled = !future.length;
	$("reset").disabled = JSON.stringify(keyOf(view)) ===
		JSON.stringify(keyOf(Object.assign({}, start,
						   { event: view.event })));
	sayWhole();
	remember();
}

function paint()
{
	flame.draw();
	if (model.bins)
		strip.draw(sel.columns, view.time, view.span);
}

function sayWhole()
{
	const at = view.zoom;
	const of = sel.whole === sel.weight[0] ? "all" :
		percent(sel.weight[0], sel.whole) + " of all";

	$("details").textContent = grouped(sel.samples[0]) + " samples, " +
		grouped(sel.weight[0]) + " " + unit() + ": " + of +
		(at ? "; zoomed to " + label(at).name + ", " +
		 percent(sel.weight[at], sel.weight[0]) + " of that" : "") +
		(flame.narrow ? "; " + percent(flame.narrow, 1) +
		 " of it has innermost frames too narrow to be drawn" : "");
}

// Returns what is known about a frame, as lines.
function factsOf(at)
{
	const l = label(at);
	const lines = [l.name];

	if (l.file)
		lines.push(l.file + (l.off ? "+" + l.off : "") +
			   (l.build ? ", build-id " + l.build + ".." : ""));
	if (l.source)
		lines.push(l.source);
	if (l.kind === "e")
		lines.push("of the program that came by exec after the " +
			   "sample: not its caller");
	if (l.kind === "m") {
		const word = /^\[user: (.*)\]$/.exec(l.name);
		const v = word && model.verdicts.find(x => x[0] === word[1]);

		if (v)
			lines.push(v[1]);
	}
	if (l.reason)
		lines.push("bogus: " + (l.reason === "no_code" ?
			"there is no code at this return address" :
			"no call is in front of this return address"));
	else if (l.bogus)
		lines.push(l.bogus + " of its " + l.places +
			   " places: no call can return to there");
	lines.push(grouped(sel.samples[at]) + " samples, " +
		   grouped(sel.weight[at]) + " " + unit() + ", " +
		   percent(sel.weight[at], sel.weight[0]) +
		   (sel.self[at] && sel.self[at] < sel.weight[at] ? ", " +
		    percent(sel.self[at], sel.weight[0]) + " in itself" : ""));
	return lines;
}

// ---- search

function search()
{
	flame.hits = null;
	$("found").textContent = "";
	$("search").classList.remove("wrong");
	if (!pattern)
		return;

	const matches = matcher();

	if (!matches) {
		$("search").classList.add("wrong");
		$("found").textContent = "not a regular expression";
		return;
	}
	flame.hits = model.labels.map(l => matches(l.name));

	const [sum, n] = sumHits(model.node, i => sel.weight[i], i =>
		flame.hits[model.node.label[i]]);

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
	flame.draw();
	remember();
}

// ---- lists: threads, CPUs, verdicts

const LIST_MAX = 100;
function fillList(name, weights, nameOf, hintOf)
{
	const ul = $(name);
	const focus = ul.contains(document.activeElement) ?
		document.activeElement.value : null;
	const most = weights.reduce((a, b) => a > b ? a : b, 0);
	const wanted = name === "threads" ? $("which").value.toLowerCase() : "";
	const ids = Array.from(weights.keys()).filter(i =>
		(weights[i] > 0 || (view[name] && view[name].has(i))) &&
		nameOf(i).toLowerCase().includes(wanted));

	ids.sort((a, b) => weights[b] - weights[a] || a - b);
	ul.textContent = "";
	ids.slice(0, LIST_MAX).forEach(i => {
		const li = element("li");
		const row = element("label");
		const box = element("input");

		box.type = "checkbox";
		box.value = String(i);
		box.checked = Boolean(view[name] && view[name].has(i));
		box.addEventListener("change", () => toggle(name, i));
		row.style.setProperty("--part", most ? 100 * weights[i] / most +
				      "%" : "0");
		row.title = hintOf(i);
		row.append(box, element("span", nameOf(i), "name"),
			   element("span", percent(weights[i], sel.whole), "n"));
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
	fillList("verdicts", sel.verdicts, i => model.verdicts[i][0],
		 i => model.verdicts[i][1]);
	fillList("cpus", sel.cpus, cpuName, () => "");
	fillList("threads", sel.threads, threadName, i =>
		"process " + model.threads[i][2]);
}

// ---- the filters in effect, each with a button to remove it

function chip(text, change)
{
	const b = element("button", text + " \u00d7", "chip");

	b.title = "take this back";
	b.addEventListener("click", () => go(change));
	$("chips").append(b);
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
		chip(seconds(nsOf(view.time[0])) + " to " +
		     seconds(lastOf(view.time[1])) + " s", { time: null });
	if (view.verdicts)
		chip(words(view.verdicts, i => model.verdicts[i][0]),
		     { verdicts: null });
	if (view.cpus)
		chip(words(view.cpus, cpuName), { cpus: null });
	if (view.threads)
		chip(words(view.threads, threadName), { threads: null });
	view.frames.forEach(f =>
		chip((f.keep ? "only " : "without ") +
		     model.labels[f.label].name,
		     { frames: view.frames.filter(o => o !== f) }));
}

// ---- hot functions

function showHot()
{
	const body = $("hot").tBodies[0];
	const f = functions(sel);
	const by = f[order];
	const ids = Array.from(by.keys()).filter(i =>
		f.total[i] > 0 && model.labels[i].kind[0] !== "g");

	ids.sort((a, b) => by[b] - by[a] || f.total[b] - f.total[a] || a - b);
	body.textContent = "";
	ids.slice(0, 50).forEach(i => {
		const tr = body.insertRow();
		const l = model.labels[i];
		const name = element("button", l.name, "link");
		const add = (text, c) => tr.append(element("td", text, c));

		add((100 * f.self[i] / sel.weight[0]).toFixed(2), "n");
		add((100 * f.total[i] / sel.weight[0]).toFixed(2), "n");
		add(grouped(f.samples[i]), "n");
		add({ u: "user", k: "kernel", i: "inlined", j: "jit",
		      n: "unnamed", m: "missing", e: "after exec", b: "bogus" }[l.kind[0]]);
		name.addEventListener("click", () => lookExactly(l.name));
		tr.insertCell().append(name);
		add(l.file);
	});
}

function sortable()
{
	const heads = $("hot").tHead.rows[0].cells;

	["self", "total"].forEach((word, i) => {
		const b = element("button", heads[i].textContent, "link");

		b.addEventListener("click", () => {
			order = word;
			heads[0].ariaSort = heads[1].ariaSort = "none";
			heads[i].ariaSort = "descending";
			showHot();
		});
		heads[i].replaceChildren(b);
	});
	heads[0].ariaSort = "descending";
}

// ---- time

function showTime()
{
	if (!model.bins)
		return;
	$("from").value = seconds(nsOf(view.time ? view.time[0] : 0));
	$("to").value = seconds(lastOf(view.time ? view.time[1] :
				       model.bins - 1));
	$("all").disabled = !view.time && !view.span;
	$("closer").disabled = !view.time ||
		JSON.stringify(view.time) === JSON.stringify(view.span);
	$("farther").disabled = !view.span;
}

// Lets the strip show the chosen time only, or four times its range.
function closer()
{
	if (view.time)
		go({ span: view.time });
}

function farther()
{
	if (!view.span)
		return;

	const n = (view.span[1] - view.span[0] + 1) * 1.5;
	const lo = Math.max(0, Math.floor(view.span[0] - n));
	const hi = Math.min(model.bins - 1, Math.ceil(view.span[1] + n));

	go({ span: lo || hi < model.bins - 1 ? [lo, hi] : null });
}

const reverse = () => go({ reverse: !view.reverse, zoom: 0 });

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

// ---- the command that draws the same picture

function showSame()
{
	const quote = s => /^[\w./:@%,=+-]+$/.test(s) ? s :
		"'" + s.replace(/'/g, "'\\''") + "'";
	const words = ["backstitch", "flame", "--event",
		       quote(model.events[view.event][0])];

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
	words.push("-o", "flame.svg", quote(document.title));
	$("same").textContent = words.join(" ");
	$("command").hidden = Boolean(view.verdicts || view.frames.length);
}

// ---- the address, which can be sent to somebody

function remember()
{
	if (restoring)
		return;

	const k = keyOf(view);
	const plain = JSON.stringify(k) === JSON.stringify(keyOf(start));
	const state = [k, pattern, ignoreCase ? 1 : 0, flame.icicle ? 1 : 0];

	setAddress(plain && !pattern && !flame.icicle ? "" :
		   "#" + encodeURIComponent(JSON.stringify(state)));
}

function restore()
{
	const ints = (v, max) => v === null ? null : v.map(x => {
		if (!Number.isInteger(x) || x < 0 || x >= max)
			throw new RangeError();
		return x;
	});
	const set = (v, max) => v === null ? null : new Set(ints(v, max));

	try {
		const [k, p, i, flip] = JSON.parse(decodeURIComponent(
			location.hash.slice(1)));
		const next = {
			event: ints([k[0]], model.events.length)[0],
			time: ints(k[1], model.bins),
			threads: set(k[2], model.threads.length),
			cpus: set(k[3], model.cpus),
			verdicts: set(k[4], model.verdicts.length),
			frames: k[5].slice(0, 30).map(f => ({
				label: ints([f[0]], model.labels.length)[0],
				keep: f[1] === 1 })),
			reverse: k[6] === 1,
			span: ints(k[7], model.bins),
			zoom: Number.isInteger(k[8]) && k[8] > 0 ? k[8] : 0
		};

		pattern = $("search").value = String(p);
		ignoreCase = i === 1;
		flame.icicle = flip === 1;
		if (JSON.stringify(keyOf(next)) !== JSON.stringify(keyOf(view)))
			past.push(view);
		view = next;
	} catch (e) {
		// the address has no state, or one of another page
	}
}

function pressed()
{
	$("case").ariaPressed = String(ignoreCase);
	$("flip").ariaPressed = String(flame.icicle);
	$("reverse").ariaPressed = String(view.reverse);
	$("event").value = String(view.event);
}

function flip()
{
	flame.icicle = !flame.icicle;
	$("graph").scrollTop = flame.icicle ? 0 : flame.height;
	pressed();
	flame.draw();
	remember();
}
