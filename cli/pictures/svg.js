// svg.js - what a flame graph does in a browser: hover, zoom, filter, undo,
// search, keys.
//
// Embedded into every picture. Names come from captures, so they are only
// written with textContent. data-s and data-w of a frame are its start and
// width in units of weight; parents stand in the file before their children.
//
// What is shown is a function of `view` alone: change it with go(), which
// keeps the previous view for undo(), and show() draws it. picture.js has what
// the HTML page uses too.
const svg = document.currentScript.closest("svg");
const byId = id => svg.querySelector("#" + id);
const pad = +svg.dataset.pad;
let plot = +svg.dataset.plot;	// px of the root
const cell = +svg.dataset.cell;
const step_y = +svg.dataset.step;
const total = +svg.dataset.total;
const top = +svg.dataset.top;
const rows = +svg.dataset.rows;
const details = byId("details");
const lead = details.textContent;
const leadThatFits = () => clip(lead, Math.floor(plot / cell));
const matched = byId("matched");
const svgNs = "http://www.w3.org/2000/svg";

const frames = Array.from(byId("frames").children, g => {
	const rect = g.querySelector("rect");

	return {
		g: g, rect: rect, x: rect.getAttribute("x"),
		y: rect.getAttribute("y"), title: g.querySelector("title"),
		text: g.querySelector("text"), seam: g.querySelector(".seam"),
		start: +g.dataset.s, weight: +g.dataset.w,
		depth: 0, shown: true,
		at: +g.dataset.s, size: +g.dataset.w, left: 0, width: 0
	};
});
const indexOf = new Map(frames.map((f, i) => [f.g, i]));
const tree = treeOf(frames.map(f =>
	Math.round(Math.abs(f.y - frames[0].y) / step_y)));

frames.forEach((f, i) => { f.depth = tree.depth[i]; });

// weight that ended in each frame; frames that are too narrow to be in the
// file count as part of the frame below them
const ownWeight = frames.map(f => f.weight);
for (let i = tree.n - 1; i > 0; i--)
	ownWeight[tree.parent[i]] -= frames[i].weight;

let view = { zoom: 0, filters: [] };	// filters: { at: index, keep: bool }
const drawnIcicle = svg.dataset.icicle === "1";
let icicle = drawnIcicle;
let hits = [];		// indices of matching frames, in file order
let here = -1;		// the hit that "n" went to
let focused = -1;	// the frame that keys act on
let pointed = -1;	// the frame under the mouse

const fullNameOf = f => f.title.textContent.split("\n", 1)[0];
const nameOf = f => f.g.dataset.n || fullNameOf(f);
// Frames with the same name and file belong to one function.
const keyOf = f => f.title.textContent.split("\n", 2).join("\n");

// ---- what is shown

// Sets size and at of every frame under the filters.
function weigh()
{
	if (!view.filters.length) {
		frames.forEach(f => { f.size = f.weight; f.at = f.start; });
		return;
	}

	const left = stacksLeft(tree, view.filters.map(r =>
		({ key: keyOf(frames[r.at]), keep: r.keep })),
		i => keyOf(frames[i]));

	sumUp(tree, ownWeight.map((w, i) => left[i] ? w : 0))
		.forEach((w, i) => { frames[i].size = w; });
	pack();
}

// Places children side by side from the left end of their parent.
function pack()
{
	const next = frames.map(() => 0);

	frames.forEach((f, i) => {
		const parent = tree.parent[i];

		f.at = parent < 0 ? 0 : next[parent];
		next[i] = f.at;
		if (parent >= 0)
			next[parent] += f.size;
	});
}

function setText(f, x, width, y)
{
	const room = Math.floor((width - 6) / cell);

	if (room < 3) {
		if (f.text)
			f.text.textContent = "";
		return;
	}
	if (!f.text) {
		f.text = document.createElementNS(svgNs, "text");
		f.g.appendChild(f.text);
	}
	f.text.setAttribute("x", (x + 3).toFixed(2));
	f.text.setAttribute("y", y + +svg.dataset.base);
	f.text.textContent = clip(nameOf(f), room);
}

function showFrame(f, yes)
{
	if (f.shown !== yes)
		f.g.classList.toggle("hide", !yes);
	f.shown = yes;
}

function place(f, x, width)
{
	const y = top + (icicle ? f.depth : rows - 1 - f.depth) * step_y;

	if (f.left === x && f.width === width && f.row === y)
		return;
	f.left = x;
	f.width = width;
	f.row = y;
	f.rect.setAttribute("x", x.toFixed(3));
	f.rect.setAttribute("y", y);
	f.rect.setAttribute("width", width.toFixed(3));
	setText(f, x, width, y);
	if (f.seam)
		f.seam.setAttribute("d", "M" + x.toFixed(2) + " " +
			(icicle ? y - 0.5 : y + step_y - 0.5) + "h" +
			width.toFixed(2));
}

function show()
{
	weigh();

	const at = view.zoom;
	const z = frames[at];
	const whole = at || view.filters.length || !total ? z.size : total;
	const scale = plot / (whole || 1);

	frames.forEach((f, i) => {
		const above = i >= at && i < tree.end[at] && (f.size > 0 || !i);
		const below = i < at && tree.end[i] > at;

		showFrame(f, above || below);
		f.g.classList.toggle("dim", below);
		if (above)
			place(f, pad + (f.at - z.at) * scale, f.size * scale);
		else if (below)
			place(f, pad, plot);
	});
	byId("reset").classList.toggle("off", !at && !view.filters.length);
	byId("undo").classList.toggle("off", !past.length);
	if (focused >= 0 && !frames[focused].shown)
		focus(at);
	say();
	remember();
}

function go(next)
{
	if (next.zoom === view.zoom && next.filters === view.filters)
		return;
	past.push(view);
	view = next;
	show();
}

const zoom = at => go({ zoom: at, filters: view.filters });
const reset = () => {
	if (view.zoom || view.filters.length)
		go({ zoom: 0, filters: [] });
};

// Shows only the stacks through a frame, or only the others.
function filter(at, keep)
{
	if (at <= 0 || view.filters.length >= 30)
		return;
	go({ zoom: 0, filters: view.filters.concat({ at: at, keep: keep }) });
}

function press(id, on)
{
	byId(id).classList.toggle("on", on);
	byId(id).setAttribute("aria-pressed", String(on));
}

function flip()
{
	icicle = !icicle;
	press("flip", icicle !== drawnIcicle);
	show();
	frames[0].g.scrollIntoView({ block: "nearest" });
}

// ---- the window

const move = (e, x, y) =>
	e.setAttribute("transform", "translate(" + x + " " + y + ")");

// Breaks the legend where it is wider than the picture. Returns by how much it is
// higher then.
function wrapLegend()
{
	let across = 0, down = 0, key = [];

	for (const e of byId("legend").children) {
		key.push(e);
		// two colors may share a text: the first one's is empty
		if (e.tagName !== "text" || !e.textContent)
			continue;

		const left = +key[0].firstChild.getAttribute("x");
		const right = +e.getAttribute("x") + e.getComputedTextLength();

		if (right + across > pad + plot && left + across > pad) {
			across = pad - left;
			down += +svg.dataset.step;
		}
		key.forEach(k => move(k, across, down));
		key = [];
	}
	return down;
}

// Breaks a line of text where it is wider than the picture. Returns by how much it
// is higher then.
function wrap(e)
{
	e.textContent = e.dataset.line ||= e.textContent;

	const x = e.getAttribute("x");
	const cell = e.getComputedTextLength() / e.textContent.length;
	const all = e.classList.contains("middle") ? plot : plot + pad - x;
	const room = Math.max(9, Math.floor(all / cell));
	const parts = e.textContent.match(new RegExp(
		"\\S.{0," + (room - 1) + "}(?=\\s|$)|\\S{" + room + "}",
		"g")) || [];

	e.replaceChildren(...parts.map((part, i) => {
		const t = document.createElementNS(svgNs, "tspan");

		t.textContent = (i ? " " : "") + part;
		t.setAttribute("x", x);
		t.setAttribute("dy", i && step_y);
		return t;
	}));
	return Math.max(0, parts.length - 1) * step_y;
}

// Breaks the lines below the picture. Returns by how much it is higher then.
function wrapNotes()
{
	let down = 0;

	for (const e of byId("notes").children) {
		move(e, 0, down);
		if (e.tagName === "text")
			down += wrap(e);
	}
	return down;
}

// Makes a line of text smaller if it is wider than the picture.
function squeeze(e)
{
	e.style.fontSize = "";

	const part = plot / (e.getBBox().width || 1);

	if (part < 1)
		e.style.fontSize = parseFloat(getComputedStyle(e).fontSize) *
			part + "px";
}

// Makes the picture as wide as its window, unless it is part of another
// document or was asked for in one width. In a window in which its buttons
// would overlap, all of it is smaller.
let drawnAt = 1;	// of its size
function fit()
{
	const own = +svg.dataset.width;
	const room = Math.floor(visualViewport.width);
	const w = Math.max(room, 480);

	if (svg.dataset.fluid !== "1" || svg !== document.documentElement)
		return;
	plot = w - 2 * pad;
	drawnAt = room / w;
	svg.setAttribute("width", room);
	svg.querySelectorAll(".wide").forEach(e => e.setAttribute("width", w));
	let down = 0;
	svg.querySelectorAll(".middle").forEach(e => {
		e.setAttribute("x", w / 2);
		if (e.id === "subtitle")
			down += wrap(e);
		else
			squeeze(e);
	});
	move(byId("right"), w - own, 0);
	if (pointed < 0)
		details.textContent = leadThatFits();
	["controls", "details", "legend"].forEach(id => move(byId(id), 0, down));
	down += wrapLegend();
	["frames", "notes"].forEach(id => move(byId(id), 0, down));
	svg.querySelector("#head .page").setAttribute("height", top - 2 + down);

	const height = +svg.dataset.height + down + wrapNotes();

	svg.setAttribute("height", height * drawnAt);
	svg.setAttribute("viewBox", "0 0 " + w + " " + height);
}

// Keeps title, buttons and legend in view.
const follow = () => byId("head").setAttribute("transform",
	"translate(0 " + Math.max(scrollY / drawnAt, 0) + ")");

// ---- what is said

function describe(f)
{
	const lines = f.title.textContent.trimEnd().split("\n");
	let s = lines.join(" \u2014 ");

	if (view.filters.length)
		s += ", " + percent(f.size, frames[0].size) +
			" of what is shown";
	if (view.zoom && f.depth >= frames[view.zoom].depth)
		s += ", " + percent(f.size, frames[view.zoom].size) +
			" of the zoomed frame";
	details.textContent = s;
}

// Writes the line above the picture: the filters, and what the search found.
let found = "";
function say()
{
	const parts = view.filters.map(r =>
		(r.keep ? "only " : "without ") + nameOf(frames[r.at]));

	if (parts.length)
		parts.unshift("shown: " + percent(frames[0].size,
						  total || frames[0].weight));
	if (pattern)
		search();
	if (found)
		parts.unshift(found);
	matched.textContent = clip(parts.join(" \u00b7 "),
				   Math.floor(plot / cell));
}

function search()
{
	hits = [];
	found = "";
	here = -1;
	frames.forEach(f => f.g.classList.remove("hit", "here"));
	if (!pattern)
		return;

	const matches = matcher();

	if (!matches) {
		found = "not a regular expression";
		return;
	}
	frames.forEach((f, i) => {
		if (!f.size || !(matches(nameOf(f)) || matches(fullNameOf(f))))
			return;
		f.g.classList.add("hit");
		hits.push(i);
	});
	found = "matched " + percent(sumHits(tree, i => frames[i].size, i =>
		frames[i].g.classList.contains("hit"))[0],
		view.filters.length ? frames[0].size :
		total || frames[0].weight) + " in " +
		hits.length + (hits.length === 1 ? " frame" : " frames");
}

function look(text)
{
	pattern = text;
	search();
	say();
	remember();
}

function step(by)
{
	if (!hits.length)
		return;
	if (here >= 0)
		frames[hits[here]].g.classList.remove("here");

	const to = ring(here, by, hits.length);
	const f = frames[hits[to]];

	if (!f.shown)
		zoom(0);
	here = to;
	f.g.classList.add("here");
	describe(f);
	f.g.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function remember()
{
	if (restoring)
		return;

	const q = new URLSearchParams();
	if (view.zoom) {
		q.set("x", frames[view.zoom].x);
		q.set("y", frames[view.zoom].y);
	}
	if (pattern)
		q.set("s", pattern);
	if (ignoreCase)
		q.set("i", "1");
	if (view.filters.length)
		q.set("h", view.filters.map(r =>
			(r.keep ? "o" : "w") + r.at).join("."));
	if (icicle !== drawnIcicle)
		q.set("v", "1");

	const text = q.toString();

	setAddress(text ? "?" + text : "");
}

function restore()
{
	const q = new URLSearchParams(location.search);
	const at = q.has("x") && q.has("y") ? frames.findIndex(f =>
		f.x === q.get("x") && f.y === q.get("y")) : 0;
	const filters = (q.get("h") || "").split(".").slice(0, 30).map(s =>
		({ at: +s.slice(1), keep: s[0] === "o" })).filter(r =>
		Number.isInteger(r.at) && r.at > 0 && r.at < frames.length);

	ignoreCase = q.get("i") === "1";
	press("case", ignoreCase);
	if (q.get("v") === "1")
		icicle = !icicle;
	press("flip", icicle !== drawnIcicle);
	pattern = q.get("s") || "";
	view = { zoom: at > 0 ? at : 0, filters: filters };
	if (view.zoom || filters.length)
		past.push({ zoom: 0, filters: [] });
	show();
	restoring = false;
}

// ---- the search box

let box = null;
function makeBox()
{
	const where = byId("searchbox");
	const shell = document.createElementNS(svgNs, "foreignObject");

	["x", "y", "width", "height"].forEach(a =>
		shell.setAttribute(a, where.dataset[a]));
	box = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	box.setAttribute("type", "search");
	box.setAttribute("placeholder", "regular expression");
	box.setAttribute("aria-label", "search frames");
	shell.appendChild(box);
	where.appendChild(shell);
	box.addEventListener("input", later(120, () => look(box.value)));
	box.addEventListener("keydown", boxKey);
}

function openSearch()
{
	const old = box ? box.value : pattern;

	if (!box)
		makeBox();
	byId("searchbox").classList.remove("hide");
	["search", "flip"].forEach(id => byId(id).classList.add("hide"));
	box.value = old;
	box.focus();
	box.select();
}

function boxKey(e)
{
	e.stopPropagation();
	if (e.key === "Enter") {
		if (pattern !== box.value)
			look(box.value);
		step(e.shiftKey ? -1 : 1);
	} else if (e.key === "Escape") {
		closeBox();
	}
}

function closeBox()
{
	if (box)
		box.value = "";
	byId("searchbox").classList.add("hide");
	["search", "flip"].forEach(id => byId(id).classList.remove("hide"));
	look("");
}

function toggleCase()
{
	ignoreCase = !ignoreCase;
	press("case", ignoreCase);
	look(pattern);
}

// ---- keys

const cardKeys = keys.filter(k => !k[2]);
let card = null;
function add(parent, name, attributes, text)
{
	const e = document.createElementNS(svgNs, name);

	Object.keys(attributes).forEach(a => e.setAttribute(a, attributes[a]));
	if (text)
		e.textContent = text;
	parent.appendChild(e);
	return e;
}

function toggleCard()
{
	const line = Math.round(cell / 0.6) + 6;

	if (card) {
		card.remove();
		card = null;
		return;
	}
	card = add(byId("head"), "g", { id: "card", role: "note" });
	add(card, "rect", { class: "page", x: pad + 4, y: top,
			    width: cell * 58, height: line * (cardKeys.length + 1),
			    rx: 4 });
	cardKeys.forEach((k, i) => {
		const y = top + line * (i + 1) + 2;

		add(card, "text", { x: pad + 16, y: y }, k[0]);
		add(card, "text", { class: "quiet", x: pad + 16 + cell * 18,
				    y: y }, k[1]);
	});
}

function focus(at)
{
	if (focused >= 0) {
		frames[focused].g.classList.remove("focus");
		frames[focused].g.setAttribute("tabindex", "-1");
	}
	focused = at;
	frames[at].g.classList.add("focus");
	frames[at].g.setAttribute("tabindex", "0");
	describe(frames[at]);
}

function besideOf(at, by)
{
	const f = frames[at];
	let best = -1;

	frames.forEach((o, i) => {
		if (!o.shown || o.depth !== f.depth || i === at)
			return;
		if (by < 0 && o.left < f.left)
			best = i;
		else if (by > 0 && o.left > f.left && best < 0)
			best = i;
	});
	return best;
}

function walk(key)
{
	const out = icicle ? "ArrowDown" : "ArrowUp";
	let to = view.zoom;

	if (focused >= 0 && frames[focused].shown) {
		if (key === "ArrowLeft" || key === "ArrowRight")
			to = besideOf(focused, key === "ArrowLeft" ? -1 : 1);
		else
			to = key === out ? widestChild(tree,
				i => frames[i].size, focused,
				i => frames[i].shown) : tree.parent[focused];
	}
	if (to < 0)
		return;
	focus(to);
	frames[to].g.focus({ preventScroll: true });
	frames[to].g.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// Returns the frame that keys act on.
const subject = () => pointed >= 0 ? pointed : focused >= 0 ? focused :
	view.zoom;

function escape()
{
	if (card)
		toggleCard();
	else if (pattern)
		closeBox();
	else
		undo();
}

const zoomFocused = () => zoom(focused >= 0 ? focused : view.zoom);

function key(e)
{
	const click = () => e.target.dispatchEvent(new MouseEvent("click"));
	const button = e.target.classList.contains("button") ?
		{ "Enter": click, " ": click } : {};

	pressKey(e, [button, onKey, onFrameKey], box);
}

function frameOf(target)
{
	const g = target.closest && target.closest("#frames > g");

	return g && indexOf.has(g) ? indexOf.get(g) : -1;
}

function listen()
{
	const area = byId("frames");

	area.addEventListener("mouseover", e => {
		pointed = frameOf(e.target);
		if (pointed >= 0)
			describe(frames[pointed]);
	});
	area.addEventListener("mouseleave", () => {
		pointed = -1;
		details.textContent = leadThatFits();
	});
	area.addEventListener("focusin", e => {
		const i = frameOf(e.target);

		if (i >= 0 && i !== focused)
			focus(i);
	});
	area.addEventListener("click", e => {
		const i = frameOf(e.target);

		if (i < 0)
			return;
		focus(i);
		if (e.shiftKey || e.altKey)
			filter(i, e.shiftKey);
		else
			zoom(i);
	});
	Object.entries({
		undo: undo, reset: reset, flip: flip, search: openSearch,
		case: toggleCase, help: toggleCard,
		only: () => filter(focused, true),
		without: () => filter(focused, false)
	}).forEach(([id, fn]) => byId(id).addEventListener("click", () => fn()));
	document.addEventListener("keydown", key);
	addEventListener("scroll", follow);
	// at once: a headless browser has its picture taken right after it
	addEventListener("resize", () => {
		fit();
		show();
		follow();
	});
}

// Without this script the file is an image; with it, a tree to walk in.
svg.setAttribute("role", "group");
byId("frames").setAttribute("role", "tree");
frames.forEach(f => {
	f.g.setAttribute("role", "treeitem");
	f.g.setAttribute("aria-level", f.depth + 1);
});
frames[0].g.setAttribute("tabindex", "0");
byId("controls").classList.remove("hide");
listen();
fit();
restore();
