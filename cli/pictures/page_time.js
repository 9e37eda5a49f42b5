// page_time.js - stacks in the order in which they came, of one thread or CPU.
//
// A piece is a sample, from its time to that of the next one in the lane, or a
// wait. The picture has a column for each px: the piece that is there, the last
// one if there are several. Frames that stand side by side are one box, and the
// boxes are a tree as other graphs have it.

// Returns the pieces of a lane that the view lets through, ordered by begin:
// { from, to, node, weight, wait }. Kept, as a zoom does not change them.
let pieces = { key: "" };
function piecesOf(v, groups)
{
	const key = JSON.stringify(keyOf(Object.assign({}, v, {
		span: null, zoom: 0, func: null, tracks: false
	})));
	const s = model.sample, g = model.group, bin = Number(model.bin);
	const lo = v.time ? v.time[0] + 1 : 1;
	const hi = v.time ? v.time[1] + 1 : Infinity;
	const list = [];

	if (key === pieces.key)
		return pieces;
	for (let i = 0; i < s.n; i++) {
		const at = s.group[i], t = s.time[i];

		if ((v.lane < 0 ? s.cpu[i] === -1 - v.lane :
		     g.thread[at] === v.lane) && t >= lo && t <= hi &&
		    !groups[at] && (!v.cpus || v.cpus.has(s.cpu[i])))
			list.push({ from: (t - 1) * bin, to: 0,
				    node: g.node[at], weight: s.weight[i],
				    wait: -1 });
	}
	addPieces(v, groups, list);
	list.sort((a, b) => a.from - b.from);
	endPieces(list, Math.min(hi, model.bins) * bin);
	pieces = { key: key, list: list, sum: new Float64Array(list.length + 1) };
	list.forEach((p, i) => {
		pieces.sum[i + 1] = pieces.sum[i] + p.weight;
	});
	return pieces;
}

// Adds the waits of a thread, cut to the chosen time.
function addPieces(v, groups, list)
{
	const w = model.wait, g = model.group, bin = Number(model.bin);
	const lo = v.time ? v.time[0] * bin : -Infinity;
	const hi = v.time ? (v.time[1] + 1) * bin : Infinity;

	if (!model.parts[v.event].includes(model.waits.event) || v.lane < 0 ||
	    (v.cpus && !v.cpus.has(0)))
		return;
	for (let i = 0; i < w.n; i++) {
		const at = w.group[i], from = Math.max(w.from[i], lo);
		const to = Math.min(w.from[i] + w.ns[i], hi);

		if (g.thread[at] === v.lane && !groups[at] && to >= from)
			list.push({ from: from, to: to, node: g.node[at],
				    weight: to - from, wait: i });
	}
}

// A sample ends with the next piece. Where none comes for long, nothing was
// sampled: it is as long as most others.
function endPieces(list, end)
{
	const gaps = list.slice(1, 2000).map((p, i) => p.from - list[i].from)
		.filter(ns => ns > 0).sort((a, b) => a - b);
	const usual = gaps[gaps.length >> 1] || Number(model.bin);

	list.forEach((p, i) => {
		const next = i + 1 < list.length ? list[i + 1].from : end;

		if (p.wait < 0)
			p.to = Math.min(next, p.from + 1.5 * usual);
	});
}

// Returns the number of pieces that begin before a time.
function piecesBefore(list, ns)
{
	let lo = 0, hi = list.length;

	while (lo < hi) {
		const mid = lo + hi >> 1;

		if (list[mid].from < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

// Returns for each px the piece that is there, -1: none.
function columnsOf(list, lo, unit, width)
{
	const at = new Int32Array(width).fill(-1);
	let i = piecesBefore(list, lo) - 1;

	for (let x = 0; x < width; x++) {
		const begin = lo + x * unit;

		while (i + 1 < list.length && list[i + 1].from < begin + unit)
			i++;
		if (i >= 0 && (list[i].to > begin || list[i].from >= begin))
			at[x] = i;
	}
	return at;
}

// Returns the frames of a node, outermost first, at most DEEP.
function framesOf(node, cache)
{
	const t = model.node;
	let out = cache.get(node);

	if (!out) {
		out = [];
		for (let i = node; i >= 0; i = t.parent[i])
			if (t.depth[i] < DEEP)
				out.push(i);
		cache.set(node, out.reverse());
	}
	return out;
}

// Returns a tree of boxes with their sums, and { at, x, w } of each row.
function timeOrder(v, width)
{
	const span = v.span || [model.first, Math.max(model.bins, 1) - 1];
	const bin = Number(model.bin), lo = span[0] * bin;
	const unit = (span[1] + 1 - span[0]) * bin / width;
	const { list, sum } = piecesOf(v, groupsLeft(v));
	const columns = columnsOf(list, lo, unit, width);
	const depth = [], label = [], first = [], last = [], rows = [];
	const cache = new Map();
	const several = [];
	let open = [], nodes = [];		// boxes, and what they show
	let next = piecesBefore(list, lo);	// piece that no box has yet

	for (let x = 0; x < width; x++) {
		const i = columns[x];
		const frames = i < 0 ? [] : framesOf(list[i].node, cache);
		let same = 0;

		while (same < frames.length && nodes[same] === frames[same])
			same++;
		open.length = same;
		for (let d = same; d < frames.length; d++) {
			const at = depth.length;

			depth.push(d);
			label.push(model.node.label[frames[d]]);
			first.push(Math.min(next, i));
			several.push(next < i);
			last.push(i);
			open.push(at);
			(rows[d] || (rows[d] = [])).push({
				at: at, x: x, w: 0, more: d === DEEP - 1
			});
		}
		open.forEach((at, d) => {
			several[at] = several[at] || i > next;
			last[at] = i;
			rows[d][rows[d].length - 1].w = x + 1 -
				rows[d][rows[d].length - 1].x;
		});
		nodes = frames;
		next = Math.max(next, i + 1);
	}
	return {
		tree: Object.assign(treeOf(depth), { label: label }),
		rows: rows.length ? rows : [[]], list: list, first: first,
		last: last, several: several, unit: unit, lo: lo, columns: columns,
		self: new Float64Array(depth.length),
		samples: first.map((a, i) => last[i] - a + 1),
		weight: first.map((a, i) => sum[last[i] + 1] - sum[a])
	};
}

// Draws a line where each piece begins, if they can be told apart.
function markPieces(g)
{
	const o = g.sel, c = g.canvas.getContext("2d");
	const y = g.top(0) - g.frame.scrollTop;
	let i = piecesBefore(o.list, o.lo);
	const n = piecesBefore(o.list, o.lo + o.unit * g.width) - i;

	if (n > g.width / 4)
		return;
	c.fillStyle = css("--ink");
	for (; i < o.list.length; i++) {
		const x = (o.list[i].from - o.lo) / o.unit;

		if (x > g.width)
			break;
		c.fillRect(x, y, 1, ROW - 1);
	}
}

// Returns what the tip says of a box beside its name.
function timesOf(o, at)
{
	const from = o.list[o.first[at]], to = o.list[o.last[at]];

	return "from " + since(model.t0 + BigInt(Math.round(from.from))) +
		" s, for " + inTime(Math.round(to.to - from.from)) +
		(o.several[at] ? "; some share a pixel, + tells them apart" : "") +
		(o.samples[at] === 1 && from.wait >= 0 ? "; " +
		 waitWords(from.wait) : "");
}

// Lets the picture show the time of a box.
function zoomTime(at)
{
	const o = flame.sel, bin = Number(model.bin);
	const a = Math.floor(o.list[o.first[at]].from / bin);
	const b = Math.ceil(o.list[o.last[at]].to / bin) - 1;

	go({ span: [Math.max(a, model.first),
		    Math.max(a, Math.min(b, model.bins - 1))] });
}

// Fills the list of what can be shown: merged, or a CPU or thread by time.
let listed = -1;	// the event that the list is of
function listLanes()
{
	const list = $("lane");

	if (listed === view.event || !model.bins)
		return;
	listed = view.event;
	list.textContent = "";
	const add = (text, id) => {
		const o = element("option", text);

		o.value = id;
		list.append(o);
	};

	const most = weights => Array.from(weights.keys()).filter(i =>
		weights[i] || i === view.lane || i === -1 - view.lane)
		.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, LANES);

	add("merged", "");
	most(sel.cpus).forEach(i => add("in time: " + cpuName(i), -1 - i));
	most(sel.threads).forEach(i => add("in time: " + threadName(i), i));
}
