// svg.js - what a flame graph does in a browser: hover, zoom, search.
//
// Embedded into every picture. Names come from captures, so they are only
// ever written with textContent. data-s and data-w of a frame are its start
// and width in units of weight; frames stand in the file parents first.
(function () {
"use strict";
const svg = document.currentScript.closest("svg");
const byId = id => svg.querySelector("#" + id);
const pad = +svg.dataset.pad;
const plot = +svg.dataset.plot;
const cell = +svg.dataset.cell;
const step = +svg.dataset.step;
const total = +svg.dataset.total;
const details = byId("details");
const matched = byId("matched");
const svgNs = "http://www.w3.org/2000/svg";

const frames = Array.from(byId("frames").children, g => {
	const rect = g.querySelector("rect");

	return {
		g: g, rect: rect, x: rect.getAttribute("x"),
		y: rect.getAttribute("y"), title: g.querySelector("title"),
		text: g.querySelector("text"), start: +g.dataset.s,
		weight: +g.dataset.w, depth: 0, end: 0, shown: true
	};
});
const indexOf = new Map(frames.map((f, i) => [f.g, i]));

// end: the index behind the last frame above this one
(function () {
	const open = [];

	frames.forEach((f, i) => {
		f.depth = Math.round(Math.abs(f.y - frames[0].y) / step);
		while (open.length && open[open.length - 1].depth >= f.depth)
			open.pop().end = i;
		open.push(f);
	});
	open.forEach(f => { f.end = frames.length; });
})();

let zoomed = 0;		// index of the frame that fills the width
let pattern = null;	// what is searched for
let ignoreCase = false;
let hits = [];		// indices, in the file's order
let here = -1;		// the hit that "n" went to

const nameOf = f => f.title.textContent.split("\n", 1)[0];

function percent(part, whole)
{
	return (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %";
}

// columns of one character in a font of fixed width
function cellsOf(ch)
{
	const c = ch.codePointAt(0);

	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
		(c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
		(c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
		(c >= 0x1f300 && c <= 0x1faff) || c >= 0x20000 ? 2 : 1;
}

function clip(name, room)
{
	const chars = Array.from(name);
	let used = 0;

	if (chars.reduce((n, ch) => n + cellsOf(ch), 0) <= room)
		return name;
	for (let i = 0; i < chars.length; i++) {
		used += cellsOf(chars[i]);
		if (used > room - 2)
			return chars.slice(0, i).join("") + "..";
	}
	return name;
}

function setText(f, x, width)
{
	const room = Math.floor((width - 6) / cell);

	if (room < 3) {
		if (f.text)
			f.text.textContent = "";
		return;
	}
	if (!f.text) {
		f.text = document.createElementNS(svgNs, "text");
		f.text.setAttribute("y", +f.y + +svg.dataset.base);
		f.g.appendChild(f.text);
	}
	f.text.setAttribute("x", (x + 3).toFixed(2));
	f.text.textContent = clip(nameOf(f), room);
}

function show(f, yes)
{
	if (f.shown !== yes)
		f.g.classList.toggle("hide", !yes);
	f.shown = yes;
}

function zoom(at)
{
	const z = frames[at];
	const scale = plot / (at || !total ? z.weight || 1 : total);

	frames.forEach((f, i) => {
		const above = i >= at && i < z.end;
		const below = i < at && f.end > at;

		show(f, above || below);
		f.g.classList.toggle("dim", below);
		if (!above && !below)
			return;

		const x = pad + (above ? (f.start - z.start) * scale : 0);
		const width = above ? f.weight * scale : plot;

		f.rect.setAttribute("x", x.toFixed(3));
		f.rect.setAttribute("width", width.toFixed(3));
		setText(f, x, width);
	});
	zoomed = at;
	byId("reset").classList.toggle("hide", !at);
	remember();
}

function describe(f)
{
	const lines = f.title.textContent.split("\n");
	let s = lines.join(" \u2014 ");

	if (zoomed && f.depth >= frames[zoomed].depth)
		s += ", " + percent(f.weight, frames[zoomed].weight) +
			" of the zoomed frame";
	details.textContent = s;
}

function search(text)
{
	let sum = 0, covered = 0;

	pattern = text || null;
	hits = [];
	frames.forEach(f => f.g.classList.remove("hit", "here"));
	here = -1;
	matched.textContent = "";
	remember();
	if (!pattern)
		return;

	let re;
	try {
		re = new RegExp(pattern, ignoreCase ? "i" : "");
	} catch (e) {
		matched.textContent = "not a regular expression";
		return;
	}
	frames.forEach((f, i) => {
		if (!re.test(nameOf(f)))
			return;
		f.g.classList.add("hit");
		hits.push(i);
		if (i < covered)
			return;
		// what is above a hit counts with it, and only once
		covered = f.end;
		sum += f.weight;
	});
	matched.textContent = "matched " +
		percent(sum, total || frames[0].weight) + " in " +
		hits.length + (hits.length === 1 ? " frame" : " frames");
}

function step_to(by)
{
	if (!hits.length)
		return;
	if (here >= 0)
		frames[hits[here]].g.classList.remove("here");
	here = here < 0 && by < 0 ? hits.length - 1 :
		(here + by + hits.length) % hits.length;

	const f = frames[hits[here]];
	if (!f.shown)
		zoom(0);
	f.g.classList.add("here");
	describe(f);
	f.g.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// the state goes into the address, so that it can be sent to somebody
let restoring = true;
function remember()
{
	if (restoring)
		return;

	const q = new URLSearchParams();
	if (zoomed) {
		q.set("x", frames[zoomed].x);
		q.set("y", frames[zoomed].y);
	}
	if (pattern)
		q.set("s", pattern);
	if (ignoreCase)
		q.set("i", "1");
	try {
		const text = q.toString();
		history.replaceState(null, "",
			location.pathname + (text ? "?" + text : ""));
	} catch (e) {
		// some browsers refuse this for local files
	}
}

function restore()
{
	const q = new URLSearchParams(location.search);

	ignoreCase = q.get("i") === "1";
	byId("case").classList.toggle("on", ignoreCase);
	if (q.has("x") && q.has("y")) {
		const at = frames.findIndex(f => f.x === q.get("x") &&
					    f.y === q.get("y"));
		if (at > 0)
			zoom(at);
	}
	if (q.get("s"))
		search(q.get("s"));
	restoring = false;
}

let box = null;
function openBox()
{
	const place = byId("searchbox");
	const old = box ? box.value : pattern || "";
	let timer = 0;

	if (!box) {
		const shell = document.createElementNS(svgNs, "foreignObject");

		["x", "y", "width", "height"].forEach(a =>
			shell.setAttribute(a, place.dataset[a]));
		box = document.createElementNS("http://www.w3.org/1999/xhtml",
					       "input");
		box.setAttribute("type", "search");
		box.setAttribute("placeholder", "regular expression");
		box.setAttribute("aria-label", "search frames");
		shell.appendChild(box);
		place.appendChild(shell);
		box.addEventListener("input", () => {
			clearTimeout(timer);
			timer = setTimeout(() => search(box.value), 120);
		});
		box.addEventListener("keydown", boxKey);
	}
	place.classList.remove("hide");
	byId("search").classList.add("hide");
	box.value = old;
	box.focus();
	box.select();
}

function boxKey(e)
{
	e.stopPropagation();
	if (e.key === "Enter") {
		if ((pattern || "") !== box.value)
			search(box.value);
		step_to(e.shiftKey ? -1 : 1);
	} else if (e.key === "Escape") {
		closeBox();
	}
}

function closeBox()
{
	if (box)
		box.value = "";
	byId("searchbox").classList.add("hide");
	byId("search").classList.remove("hide");
	search("");
}

function toggleCase()
{
	ignoreCase = !ignoreCase;
	byId("case").classList.toggle("on", ignoreCase);
	search(pattern || "");
}

function frameOf(target)
{
	const g = target.closest && target.closest("#frames > g");

	return g && indexOf.has(g) ? indexOf.get(g) : -1;
}

byId("frames").addEventListener("mouseover", e => {
	const i = frameOf(e.target);

	if (i >= 0)
		describe(frames[i]);
});
byId("frames").addEventListener("mouseleave", () => {
	details.textContent = "";
});
byId("frames").addEventListener("click", e => {
	const i = frameOf(e.target);

	if (i >= 0)
		zoom(i);
});
byId("reset").addEventListener("click", () => zoom(0));
byId("search").addEventListener("click", openBox);
byId("case").addEventListener("click", toggleCase);
document.addEventListener("keydown", e => {
	const find = e.key === "F3" ||
		((e.ctrlKey || e.metaKey) && e.key === "f");

	if (find && document.activeElement === box && box)
		return; // the second time: the browser's own search
	if (!find && (e.ctrlKey || e.metaKey || e.altKey))
		return;
	if (find || e.key === "/")
		openBox();
	else if (e.key === "n" || e.key === "N")
		step_to(e.key === "n" ? 1 : -1);
	else if (e.key === "i")
		toggleCase();
	else if (e.key === "Escape" && pattern)
		closeBox();
	else if (e.key === "Escape" && zoomed)
		zoom(0);
	else
		return;
	e.preventDefault();
});
byId("controls").classList.remove("hide");
restore();
})();
