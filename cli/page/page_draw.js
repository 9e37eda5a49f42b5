// page_draw.js - the two canvases: the flame graph and the strip of time.
//
// Both are drawn whole from what they are given. They only remember where
// things are, to find what is under the pointer.
const ROW = 18;		// px of one frame
const THIN = 0.5;	// px: narrower frames are not drawn
const DEEP = 100;	// rows: what is above is drawn when it is zoomed to
const TOWER = 8;	// fabricated frames in a row that are one until zoomed to

const $ = id => document.getElementById(id);
const darkScreen = matchMedia("(prefers-color-scheme: dark)");
const fontOf = px => px + "px ui-monospace, SFMono-Regular, Menlo, " +
	"\"DejaVu Sans Mono\", Consolas, monospace";

// Caches of colours and patterns: asking the browser for each box is slow.
let painted = {}, hatches = {};
function css(name)
{
	if (!painted[name])
		painted[name] = getComputedStyle(document.documentElement)
			.getPropertyValue(name).trim();
	return painted[name];
}

const colorOfKind = kind => (model.colors[kind] || ["#ccc", "#555"])[
	darkScreen.matches ? 1 : 0];

darkScreen.addEventListener("change", () => {
	painted = {};
	hatches = {};
});

// Sizes the canvas in screen pixels. Returns its context, scaled to CSS px.
function prepare(canvas, width, height)
{
	const ratio = devicePixelRatio || 1;
	const w = Math.round(width * ratio), h = Math.round(height * ratio);

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}

	const c = canvas.getContext("2d");

	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.clearRect(0, 0, width, height);
	return c;
}

// Fills a rectangle with a colour of the page.
function fill(c, color, x, y, width, height)
{
	c.fillStyle = css(color);
	c.fillRect(x, y, width, height);
}

// Lets what is drawn in rectangles, [x, y, width, height], fade.
function dim(c, alpha, ...rects)
{
	c.globalAlpha = alpha;
	rects.forEach(r => fill(c, "--ground", ...r));
	c.globalAlpha = 1;
}

const inGroups = new Intl.NumberFormat("en-US");
const grouped = n => inGroups.format(Math.round(n));

// Returns of how many fabricated frames a node is the outermost, each of which
// is all that its parent called; 1 where they are too few to be folded.
function towerOf(t, sel, at)
{
	const isBogus = i => model.labels[t.label[i]].kind === "b";
	let n = 1;

	if (!isBogus(at))
		return 1;
	while (at + n < t.end[at] && isBogus(at + n) &&
	       sel.weight[at + n] === sel.weight[at])
		n++;
	return n < TOWER ? 1 : n;
}

// Returns the boxes of each row, { at, x, w, more, tower } from left to right,
// the px of subtrees that are too narrow to be drawn, how many towers are cut,
// and by how many rows each node is lower than it is deep: a tower of
// fabricated frames is one box. The parents of the zoomed node are as wide as
// the node.
function layOut(t, sel, zoom, width)
{
	const rows = [], next = [], lower = new Map(), folded = [];
	const scale = width / (sel.weight[zoom] || 1);
	const base = t.depth[zoom];
	const parents = [];
	let narrow = 0, deeper = 0;

	for (let i = t.parent[zoom]; i >= 0; i = t.parent[i])
		parents.push(i);
	while (parents.length) {
		const i = parents.pop(), tower = towerOf(t, sel, i);
		const fold = i + tower <= zoom ? tower : 1;

		parents.length -= fold - 1;
		lower.set(i, t.depth[i] - rows.length);
		rows.push([{ at: i, x: 0, w: width, below: true, tower: fold }]);
	}

	const under = base - rows.length;	// rows that are folded
	const opened = zoom + towerOf(t, sel, zoom);

	next[base] = 0;
	for (let i = zoom; i < t.end[zoom];) {
		const d = t.depth[i];
		const w = sel.weight[i] * scale;

		if (w < THIN && i !== zoom) {
			narrow += w;
			next[d] += w;
			i = t.end[i];
			continue;
		}
		const low = d > base ? folded[d - 1] : under, row = d - low;
		const tower = i < opened ? 1 : towerOf(t, sel, i);
		const more = row - base + under + 1 >= DEEP && t.end[i] > i + tower;

		deeper += more ? 1 : 0;
		(rows[row] || (rows[row] = [])).push({ at: i, x: next[d], w: w,
			more: more, tower: tower });
		if (low)
			lower.set(i, low);
		folded[d + tower - 1] = low + tower - 1;
		next[d + tower] = next[d];
		next[d] += w;
		i = more ? t.end[i] : i + tower;
	}
	return { rows: rows, narrow: narrow, deeper: deeper, lower: lower };
}

const rowIn = (t, lower, at) => t.depth[at] - (lower.get(at) || 0);

function hatch(c, kind)
{
	if (!hatches[kind]) {
		const tile = document.createElement("canvas");
		const p = tile.getContext("2d");

		tile.width = tile.height = 8;
		fill(p, "--" + kind + "-ground", 0, 0, 8, 8);
		p.strokeStyle = css("--" + kind + "-line");
		p.lineWidth = 2;
		p.beginPath();
		p.moveTo(-2, 6);
		p.lineTo(6, -2);
		p.moveTo(2, 10);
		p.lineTo(10, 2);
		p.stroke();
		hatches[kind] = c.createPattern(tile, "repeat");
	}
	return hatches[kind];
}

// Fills the boxes of a row for which fillOf(box) is not null: neighbours of one
// colour as one rectangle, as there may be thousands of a pixel each.
function fillRow(c, row, y, high, fillOf)
{
	let from = 0, to = 0, fill = null;

	for (let i = 0; i <= row.length; i++) {
		const b = row[i], next = b ? fillOf(b) : null;

		if (!b || next !== fill || b.x - to > 0.05) {
			if (fill !== null) {
				c.fillStyle = fill;
				c.fillRect(from, y, to - from, high);
			}
			from = b ? b.x : 0;
		}
		fill = next;
		to = b ? b.x + Math.max(b.w, 0.4) : 0;
	}
}

// A graph of a tree and the sums of a selection, { weight, self, samples }, in
// a canvas within an element that scrolls; part: of the window's height. Its
// owner may add colorOf(), facts(), zoom() and go() of its own, and the id of
// the line for details.
const makeFlame = (name, part, icicle) => ({
	rows: [], height: 0, width: 0, narrow: 0, deeper: 0, icicle: icicle,
	hover: -1, focus: -1, tree: null, sel: null,
	most: -1,	// a node with a frame around it
	canvas: $(name), frame: $(name).closest(".graph"),

	top(depth)
	{
		return (this.icicle ? depth : this.rows.length - 1 - depth) *
			ROW;
	},

	take(layout)
	{
		this.rows = layout.rows;
		this.narrow = layout.narrow / this.width;
		this.deeper = layout.deeper;
		this.lower = layout.lower;
	},

	rowOf(at)
	{
		return rowIn(this.tree, this.lower, at);
	},

	measure()
	{
		return this.width = Math.max(this.frame.clientWidth, 50);
	},

	// rows: where the boxes are; otherwise they are as wide as their weight
	lay(tree, sel, zoom, rows)
	{
		const box = this.frame;

		this.tree = tree;
		this.sel = sel;
		this.focus = this.hover = -1;
		this.measure();
		this.take(rows ? { rows: rows, narrow: 0, deeper: 0,
				    lower: new Map() } :
			  layOut(tree, sel, zoom, this.width));
		this.height = this.rows.length * ROW + 1;
		// the root is to be seen when the page opens; thin towers above
		// what fits make no room that is empty but for them
		const room = Math.min(innerHeight * part,
			Math.max(innerHeight - box.offsetTop - 70, 260));

		box.style.height = (this.height <= room ? this.height :
			Math.min(room, Math.max(this.broad() * ROW, 260))) +
			"px";
		this.canvas.parentNode.style.height = this.height + "px";
		box.scrollTop = this.icicle ? 0 : this.height;
		this.draw();
	},

	// Returns how many rows from the root on have a box of a hundredth of
	// the width, and a few more.
	broad()
	{
		let d = this.rows.length;

		while (d > 0 && !this.rows[d - 1].some(b =>
			b.w * 100 >= this.width))
			d--;
		return d + 4;
	},

	label(at)
	{
		return model.labels[this.tree.label[at]];
	},

	draw()
	{
		const box = this.frame;
		const view = box.clientHeight;
		const c = prepare(this.canvas, this.width, view);
		const cell = (c.font = fontOf(12), c.measureText("m").width);
		const above = box.scrollTop;

		c.textBaseline = "middle";
		for (let d = 0; d < this.rows.length; d++) {
			const y = this.top(d) - above;

			if (y > -ROW && y < view)
				this.row(c, this.rows[d], y, cell);
		}
		if (this.sel.list)
			markPieces(this);
	},

	row(c, boxes, y, cell)
	{
		const isWide = b => b.w > 3 || b.at === this.focus ||
			b.at === this.hover;
		const fills = [], label = this.tree.label;	// by label

		fillRow(c, boxes, y, ROW - 1, b => isWide(b) ? null :
			this.colorOf ? this.fillOf(c, b.at) :
			fills[label[b.at]] || (fills[label[b.at]] =
					       this.fillOf(c, b.at)));
		fillRow(c, boxes, this.seamTop(y), 1.8, b =>
			!isWide(b) && this.isSeam(b.at) ? css("--seam") : null);
		boxes.forEach(b => isWide(b) && this.box(c, b, y, cell));
	},

	fillOf(c, at)
	{
		const l = this.label(at);

		return hits && hits[this.tree.label[at]] ? css("--hit") :
			this.colorOf && this.colorOf(at) ? this.colorOf(at) :
			"meb".includes(l.kind) ? hatch(c, l.kind) :
			colorOfKind(l.kind);
	},

	box(c, b, y, cell)
	{
		const l = this.label(b.at);
		const marked = "meb".includes(l.kind);
		const hit = hits && hits[this.tree.label[b.at]];
		const w = Math.max(b.w - (b.w > 3 ? 1 : 0), 0.4);

		c.globalAlpha = b.below ? 0.55 : 1;
		c.fillStyle = this.fillOf(c, b.at);
		c.fillRect(b.x, y, w, ROW - 1);
		if (b.at === this.focus || b.at === this.hover ||
		    b.at === this.most) {
			c.strokeStyle = css("--ink");
			c.lineWidth = b.at === this.hover ? 1 : 2;
			c.strokeRect(b.x + 0.5, y + 0.5, Math.max(w - 1, 1),
				     ROW - 2);
		}
		if (this.isSeam(b.at))
			fill(c, "--seam", b.x, this.seamTop(y), w, 1.8);

		const cells = Math.floor((b.w - 8) / cell);
		const text = cells < 3 ? "" :
			clip(b.tower > 1 ? "\u2026 " + b.tower +
			     " fabricated frames: a click opens them" :
			     (b.more ? "\u2026 " : "") + l.name, cells);

		if (text) {
			if (marked && !hit) {
				c.lineWidth = 3;
				c.lineJoin = "round";
				c.strokeStyle = css("--ground");
				c.strokeText(text, b.x + 4, y + ROW / 2);
			}
			c.fillStyle = css("--ink");
			c.fillText(text, b.x + 4, y + ROW / 2);
		}
		c.globalAlpha = 1;
	},

	// The border of user and kernel code is drawn in the gap between rows.
	isSeam(at)
	{
		const parent = this.tree.parent[at], l = this.label(at);
		const p = parent < 0 ? null : this.label(parent);

		return p && p.kernel !== l.kernel && !"gw".includes(l.kind[0]) &&
			p.kind[0] !== "g";
	},

	seamTop(y)
	{
		return this.icicle ? y - 1.5 : y + ROW - 1.5;
	},

	find(x, y)
	{
		const row = Math.floor((y + this.frame.scrollTop) / ROW);
		const d = this.icicle ? row : this.rows.length - 1 - row;
		const boxes = this.rows[d] || [];
		const i = searchFirst(boxes.length,
			i => boxes[i].x + boxes[i].w > x);

		return i < boxes.length && boxes[i].x <= x ? boxes[i].at : -1;
	},

	boxOf(at)
	{
		return (this.rows[this.rowOf(at)] || [])
			.find(b => b.at === at);
	},

	// Scrolls until the row of the node is visible.
	reach(at)
	{
		const box = this.frame, y = this.top(this.rowOf(at));

		if (y < box.scrollTop)
			box.scrollTop = y;
		else if (y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y + ROW - box.clientHeight;
	}
});
const flame = makeFlame("flame", 0.72, false);
const callers = makeFlame("callers", 0.4, false);
const callees = makeFlame("callees", 0.4, true);

const MAP = 48;		// px
const map = {
	rows: [], key: null, width: 0, unit: 1, high: 0,

	// Draws all rows of the tree, and the part that g shows.
	draw(g, tree, sel, zoom)
	{
		if (this.key !== sel || this.tree !== tree ||
		    this.width !== g.width) {
			this.key = sel;
			this.tree = tree;
			this.width = g.width;

			const all = zoom ? layOut(tree, sel, 0, g.width) : g;

			this.rows = all.rows;
			this.lower = all.lower;
		}
		this.unit = Math.min(MAP / this.rows.length, 4);
		this.high = Math.ceil(this.unit * this.rows.length);

		const c = prepare($("map"), this.width, this.high);

		this.rows.forEach((row, d) => fillRow(c, row, this.top(d, g),
			this.unit, b => b.w < 1 ? null : this.color(tree, b.at)));
		this.frame(c, g, tree, zoom);
	},

	color(tree, at)
	{
		const l = model.labels[tree.label[at]];

		return hits && hits[tree.label[at]] ? css("--hit") :
			"meb".includes(l.kind) ? css("--" + l.kind + "-line") :
			colorOfKind(l.kind);
	},

	top(depth, g)
	{
		return (g.icicle ? depth : this.rows.length - 1 - depth) *
			this.unit;
	},

	// What is outside of the picture below is dimmed.
	frame(c, g, tree, zoom)
	{
		const z = (this.rows[rowIn(tree, this.lower, zoom)] || [])
			.find(b => b.at === zoom) || { x: 0, w: this.width };
		const scale = this.unit / ROW;
		const grow = g.icicle ? 0 :
			(this.rows.length - g.rows.length) * this.unit;
		const y = Math.max(grow + g.frame.scrollTop * scale, 0);
		const h = Math.min(g.frame.clientHeight * scale, this.high - y);
		const w = Math.max(z.w, 2);

		dim(c, 0.6, [0, 0, z.x, this.high],
		    [z.x + w, 0, this.width, this.high],
		    [z.x, 0, w, y], [z.x, y + h, w, this.high]);
		c.strokeStyle = css("--accent");
		c.lineWidth = 1;
		c.strokeRect(z.x + 0.5, y + 0.5, w - 1, Math.max(h - 1, 1));
	},

	// Returns the node at a place, the root if there is none.
	find(x, y, g)
	{
		const row = Math.floor(y / this.unit);
		const d = g.icicle ? row : this.rows.length - 1 - row;
		const b = (this.rows[d] || []).find(r =>
			r.x <= x && r.x + r.w > x);

		return b ? b.at : 0;
	}
};
let hits = null;	// by label, true for what the search found

// Returns the smallest step, 1, 2 or 5 times a power of ten, of which at most
// `most` fit into ns.
function niceStep(ns, most)
{
	let step = 1n;

	for (;;) {
		for (const f of [1n, 2n, 5n])
			if (ns / (step * f) <= BigInt(most))
				return step * f;
		step *= 10n;
	}
}

// Colours of bands and marks by kind, as numbered in timeline.h: lost
// records, missing cookies, findings and missing user stacks stand out.
const bandColor = kind => kind <= 2 ? "--lost" : kind >= 6 ? "--gap" :
	"--other";
const markColor = kind => kind === 0 ? "--finding" : kind < 8 ? "--missing" :
	"--other";

// Losses and marks have rows of their own below the samples, if there are any.
const PLOT = 54, BAND = 11;	// px
const bandRow = PLOT + 2;
const markRow = bandRow + (model.bands.length ? BAND : 0);
const axisRow = markRow + (model.marks.length ? BAND : 0);

const strip = {
	width: 0, height: axisRow + 20, plot: PLOT, drag: null, span: [0, 0],
	drawn: "", columns: null,	// what is on the canvas

	// Returns the px at which a bin begins.
	x(bin)
	{
		return (bin - this.span[0]) * this.width /
			(this.span[1] - this.span[0] + 1);
	},

	bin(x)
	{
		const n = this.span[1] - this.span[0] + 1;
		const b = this.span[0] + Math.floor(x * n / this.width);

		return Math.max(this.span[0], Math.min(b, this.span[1]));
	},

	draw(v)
	{
		const span = v.span;

		this.span = span || [model.first, Math.max(model.bins, 1) - 1];
		this.width = Math.max($("strip").clientWidth, 50);

		const columns = densityOf(v, sel, this.width);
		const key = JSON.stringify([span, this.drag || v.time,
			this.width, darkScreen.matches, devicePixelRatio]);

		if (key === this.drawn && columns === this.columns)
			return;
		this.drawn = key;
		this.columns = columns;

		const c = prepare($("time"), this.width, this.height);
		const most = columns.reduce((a, b) => a > b ? a : b, 0) || 1;
		const one = this.width / columns.length;

		fill(c, "--lane", 0, 0, this.width, this.plot);
		c.fillStyle = css("--density");
		columns.forEach((w, i) => {
			const h = w ? Math.max(this.plot * w / most, 1) : 0;

			c.fillRect(i * one, this.plot - h, one + 0.3, h);
		});
		if (span)
			this.place(c);
		this.losses(c);
		this.axis(c);
		this.choice(c, this.drag || v.time);
	},

	// Draws above all where in the whole capture the strip is.
	place(c)
	{
		const n = Math.max(model.bins, 1) - model.first;
		const x = (this.span[0] - model.first) * this.width / n;
		const w = (this.span[1] + 1 - this.span[0]) * this.width / n;

		fill(c, "--grid", 0, 0, this.width, 4);
		fill(c, "--accent", x, 0, Math.max(w, 2), 4);
	},

	losses(c)
	{
		for (let y = bandRow; y < axisRow; y += BAND)
			fill(c, "--lane", 0, y, this.width, BAND - 2);
		c.globalAlpha = 0.7;
		model.bands.forEach(b => {
			const x = this.x(b[3]);

			fill(c, bandColor(b[2]), x, bandRow,
			     Math.max(this.x(b[4] + 1) - x, 1), BAND - 2);
		});
		c.globalAlpha = 0.8;
		model.marks.forEach(m => fill(c, markColor(m[2]), this.x(m[3]),
					      markRow, 1.2, BAND - 2));
		c.globalAlpha = 1;
	},

	axis(c)
	{
		const from = nsOf(this.span[0]) - model.origin;
		const span = BigInt(this.span[1] - this.span[0] + 1) *
			model.bin;
		const step = niceStep(span, Math.max(this.width / 110, 2) | 0);
		const digits = Math.max(0, 10 - String(step).length);
		let t = (from / step + (from > 0n ? 1n : 0n)) * step;

		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "top";
		for (; t < from + span; t += step) {
			const x = Number(t - from) / Number(span) *
				this.width;
			const text = seconds(t).replace(/(\.\d+)$/, s =>
				digits ? s.slice(0, digits + 1) : "") + " s";

			fill(c, "--grid", x, 0, 1, axisRow + 2);
			c.fillStyle = css("--quiet");
			if (x + c.measureText(text).width + 4 < this.width)
				c.fillText(text, x + 3, axisRow + 4);
		}
	},

	choice(c, time)
	{
		if (!time)
			return;

		const x = this.x(time[0]), x1 = this.x(time[1] + 1);

		dim(c, 0.55, [0, 0, x, this.plot],
		    [x1, 0, this.width - x1, this.plot]);
		c.fillStyle = css("--accent");
		c.fillRect(x - 1, 0, 2, axisRow);
		c.fillRect(x1 - 1, 0, 2, axisRow);
		c.fillRect(x, 0, x1 - x, 2);
	},

	// Returns lines that say what happened at a column.
	at(x, y)
	{
		const lo = this.bin(x - 2), hi = this.bin(x + 2);
		const cpu = n => n < 0 ? "no CPU said" : "CPU " + n;
		const lines = [since(nsOf(this.bin(x))) + " s"];
		const say = (list, kinds) => list.filter(b =>
			b[3] <= hi && b[4] >= lo).slice(0, 12).forEach(b =>
			lines.push(kinds[b[2]][0] + ", " + cpu(b[1]) + ": " +
				   (b[5] ? grouped(b[5]) : "not known how many") +
				   " \u2014 " + kinds[b[2]][1]));

		if (y > PLOT && y < markRow)
			say(model.bands, model.band_kinds);
		else if (y > PLOT && y < axisRow)
			say(model.marks, model.mark_kinds);
		return lines;
	}
};
