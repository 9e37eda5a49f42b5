// picture.js - what the flame graph file and the HTML page have in common.
//
// svg.c and page.c put this text in front of their own scripts, inside one
// function. Those define `view` (what is shown), show(), which draws it, and
// the functions that the tables of keys below name.

// [keys, what they do, only in the page]
const keys = [
	["arrows", "to the frame above, below, or beside"],
	["Enter, click", "zoom to it"],
	["o, Shift-click", "only stacks through it"],
	["w, Alt-click", "without the stacks through it"],
	["s", "callers above and callees below a function", true],
	["a", "source and assembly of a function", true],
	["c, C", "copy its name, its stack", true],
	["p", "what is shown as a PNG file", true],
	["l", "copy the address of what is shown", true],
	["m, right click", "all that can be done with a frame", true],
	["u, Backspace", "undo"],
	["r", "redo", true],
	["0", "reset: all samples, no zoom"],
	["f", "flip: flame graph or icicle"],
	["v", "reverse: merge stacks from the innermost frame", true],
	["x", "a function that calls itself as one frame", true],
	["+, -", "time: zoom in to what is chosen, zoom out", true],
	["T", "stacks in order of time, or merged", true],
	["h", "heat map of lengths, or of samples within each second", true],
	["t", "CPUs and threads over time; there Enter and o act on one", true],
	["/, Ctrl-F", "search for a regular expression"],
	["n, N", "next match, the one before"],
	["i", "ignore case"],
	["Esc", "close this, end the search, or undo"],
	["?", "show or hide these keys"]
];

const onKey = {
	"/": () => openSearch(), "F3": () => openSearch(),
	"n": () => step(1), "N": () => step(-1), "i": () => toggleCase(),
	"f": () => flip(), "u": () => undo(), "Backspace": () => undo(),
	"0": () => reset(), "?": () => toggleCard(), "Escape": () => escape(),
	"o": () => filter(subject(), true), "w": () => filter(subject(), false)
};
const onFrameKey = {
	"Enter": () => zoomFocused(), "ArrowUp": key => walk(key),
	"ArrowDown": key => walk(key), "ArrowLeft": key => walk(key),
	"ArrowRight": key => walk(key)
};

const isFind = e => e.key === "F3" ||
	((e.ctrlKey || e.metaKey) && e.key === "f");

// Calls the first function for the key in the tables. A second Ctrl-F, in the
// search field, is left to the browser's own search.
function pressKey(e, tables, field)
{
	const find = isFind(e);
	const table = tables.find(t => Object.hasOwn(t, e.key));

	if ((find && field && document.activeElement === field) ||
	    (!find && (e.ctrlKey || e.metaKey || e.altKey)))
		return;
	if (find)
		openSearch();
	else if (table)
		table[e.key](e.key);
	else
		return;
	e.preventDefault();
}

// ---- views

const past = [], future = [];
let pattern = "", ignoreCase = false;
let restoring = true;	// the address is read first, then written

function travel(from, to)
{
	if (!from.length)
		return;
	to.push(view);
	view = from.pop();
	show();
}

const undo = () => travel(past, future);
const redo = () => travel(future, past);

// The state goes into the address, so that it can be sent to somebody.
function setAddress(state)
{
	try {
		history.replaceState(null, "", location.pathname + state);
	} catch (e) {
		// some browsers refuse this for local files
	}
}

// Returns a function that calls fn once no call came for `ms`.
function later(ms, fn)
{
	let timer = 0;

	return () => {
		clearTimeout(timer);
		timer = setTimeout(fn, ms);
	};
}

// ---- trees: nodes in an order in which parents stand before children

// Returns parents and ends of the nodes; end is the index after the last
// node of the subtree.
function treeOf(depth)
{
	const n = depth.length;
	const t = {
		n: n, depth: depth, parent: new Int32Array(n),
		end: new Uint32Array(n).fill(n)
	};
	const open = [];

	for (let i = 0; i < n; i++) {
		while (open.length > depth[i])
			t.end[open.pop()] = i;
		t.parent[i] = open.length ? open[open.length - 1] : -1;
		open.push(i);
	}
	return t;
}

// Returns the weight of each node with all above it.
function sumUp(t, self)
{
	const sum = self.slice();

	for (let i = t.n - 1; i > 0; i--)
		sum[t.parent[i]] += sum[i];
	return sum;
}

// Returns 1 for each node whose stack goes through the frames of all rules
// that keep, and through none of the others. A rule is { key, keep }.
function stacksLeft(t, rules, keyOf)
{
	const all = rules.reduce((bits, r, i) =>
		r.keep ? bits | 1 << i : bits, 0);
	const met = new Int32Array(t.n);	// bits of rules, -1: left out

	for (let i = 0; i < t.n; i++) {
		const key = keyOf(i);
		let bits = i ? met[t.parent[i]] : 0;

		rules.forEach((r, n) => {
			if (bits >= 0 && r.key === key)
				bits = r.keep ? bits | 1 << n : -1;
		});
		met[i] = bits;
	}
	return met.map(bits => bits === all ? 1 : 0);
}

// Returns the widest child of a node that is drawn, the left one of equals;
// -1 if there is none.
function widestChild(t, weight, at, isDrawn)
{
	let best = -1;

	for (let i = at + 1; i < t.end[at]; i = t.end[i])
		if (isDrawn(i) && (best < 0 || weight(i) > weight(best)))
			best = i;
	return best;
}

// ---- search

// Returns a function that tests a name, null if the pattern is not valid.
function matcher()
{
	try {
		const re = new RegExp(pattern, ignoreCase ? "i" : "");

		return name => re.test(name);
	} catch (e) {
		return null;
	}
}

// Returns [weight, number] of the outermost hits: what is above a hit counts
// with it, and only once.
function sumHits(t, weight, isHit)
{
	let sum = 0, n = 0;

	for (let i = 0; i < t.n;) {
		if (weight(i) && !isHit(i)) {
			i++;
			continue;
		}
		sum += weight(i);
		n += weight(i) ? 1 : 0;
		i = t.end[i];
	}
	return [sum, n];
}

// Returns the next place of a ring of n; at -1: there is none yet.
const ring = (at, by, n) => at < 0 ? (by > 0 ? 0 : n - 1) :
	(at + by + n) % n;

// ---- words

// Returns a share as human_share() in stitch/text/human.h writes it.
function share(part, whole)
{
	const v = whole > 0 ? part * 1e4 / whole : 0;

	return v > 0 && v < 0.5 ? "<0.01" : v < 1e4 && v >= 9999.5 ? ">99.99" :
		(Math.floor(v + 0.5) / 100).toFixed(2);
}

const percent = (part, whole) => share(part, whole) + " %";

// Returns the columns of one character in a font of fixed width.
function cellsOf(ch)
{
	const c = ch.codePointAt(0);

	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
		(c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
		(c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
		(c >= 0x1f300 && c <= 0x1faff) || c >= 0x20000 ? 2 : 1;
}

// Returns the name, or its beginning and "..", in at most `room` columns.
function clip(name, room)
{
	if (/^[ -~]*$/.test(name))
		return name.length <= room ? name :
			name.slice(0, room - 2) + "..";

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
