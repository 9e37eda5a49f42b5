// page_time.js - stacks in the order in which they came, of one thread or CPU.
//
// A piece is a sample, from its time to that of the next one in the lane, or a
// wait. The picture has a column for each px: the piece that is there, the last
// one if there are several. Frames that stand side by side are one box, and the
// boxes are a tree as other graphs have it.

// Returns the pieces of a lane that the view lets through, ordered by begin:
// arrays from, to, node, weight and wait (-1: a sample), and the sums of the
// weights before each. Kept, as a zoom does not change them.
let pieces = { key: "" };
function piecesOf(v, groups)
{
	const key = JSON.stringify(keyOf(Object.assign({}, v, {
		span: null, zoom: 0, func: null, tracks: false
	})));

	if (key === pieces.key)
		return pieces;

	const waits = waitsOfLane(v, groups), samples = samplesOfLane(v, groups);
	const n = waits.length + samples.length;
	const p = {
		key: key, n: n, from: new Float64Array(n),
		to: new Float64Array(n), node: new Uint32Array(n),
		wait: new Int32Array(n).fill(-1), sum: new Float64Array(n + 1)
	};
	const bin = model.binNs;
	const hi = v.time ? (v.time[1] + 1) * bin : Infinity;
	const lo = v.time ? v.time[0] * bin : -Infinity;

	for (let i = 0, a = 0, b = 0; i < n; i++) {
		const s = samples[a], w = waits[b];
		const begin = b < waits.length ?
			Math.max(model.wait.from[w], lo) : Infinity;
		const at = a < samples.length ? sampleNs(s) : Infinity;
		const first = at <= begin;

		p.from[i] = first ? at : begin;
		p.to[i] = first ? 0 : Math.min(model.wait.from[w] +
					       model.wait.ns[w], hi);
		p.node[i] = model.group.node[first ? model.sample.group[s] :
					     model.wait.group[w]];
		p.wait[i] = first ? -1 : w;
		p.sum[i + 1] = p.sum[i] + (first ? model.sample.weight[s] :
					   p.to[i] - p.from[i]);
		a += first ? 1 : 0;
		b += first ? 0 : 1;
	}
	endPieces(p, Math.min(hi, model.bins * bin), isLatency(v.event));
	return pieces = p;
}

// Returns the indexes of the lane's samples, ordered by time.
function samplesOfLane(v, groups)
{
	const s = model.sample;
	const lo = v.time ? v.time[0] + 1 : 1;
	const hi = v.time ? v.time[1] + 1 : Infinity;
	const all = v.lane < 0 ? samplesOfCpu(-1 - v.lane) :
		samplesOfThread(v.lane);
	const end = before(all, hi + 1, s.time);
	const out = new Uint32Array(all.length);
	let n = 0;

	for (let i = before(all, lo, s.time); i < end; i++) {
		const k = all[i];

		if (!groups[s.group[k]] && !isOut(v, s.weight[k]) &&
		    (!v.cpus || v.cpus.has(s.cpu[k])))
			out[n++] = k;
	}
	return out.subarray(0, n);
}

// Returns the waits of a thread within the time; those of a thread are ordered.
function waitsOfLane(v, groups)
{
	const w = model.wait, g = model.group, bin = model.binNs;
	const lo = v.time ? v.time[0] * bin : -Infinity;
	const hi = v.time ? (v.time[1] + 1) * bin : Infinity;
	const off = model.parts[v.event].includes(model.waits.event) &&
		v.lane >= 0 && (!v.cpus || v.cpus.has(0));
	const out = [];

	for (let i = 0; off && i < w.n; i++)
		if (g.thread[w.group[i]] === v.lane && !groups[w.group[i]] &&
		    waitsIn(w, i, lo, hi) && !isOut(v, w.ns[i]))
			out.push(i);
	return out;
}

// A sample ends with the next piece. Where none comes for long, nothing was
// sampled: it is one and a half times as long as most others. An interval ends of
// itself.
function endPieces(p, end, ends)
{
	const gaps = p.from.subarray(1, 2000).map((ns, i) => ns - p.from[i])
		.filter(ns => ns > 0).sort();
	const most = 1.5 * (gaps[gaps.length >> 1] || model.binNs);

	for (let i = 0; i < p.n; i++)
		if (p.wait[i] < 0)
			p.to[i] = Math.min(i + 1 < p.n ? p.from[i + 1] : end,
					   p.from[i] + (ends ? p.sum[i + 1] -
						p.sum[i] : most));
}

// Returns the number of pieces that begin before a time.
const piecesBefore = (p, ns) => searchFirst(p.n, i => p.from[i] >= ns);

// Returns for each px the piece that is there, -1: none.
function columnsOf(p, lo, unit, width)
{
	const at = new Int32Array(width).fill(-1);
	let i = piecesBefore(p, lo) - 1;

	for (let x = 0; x < width; x++) {
		const begin = lo + x * unit;

		while (i + 1 < p.n && p.from[i + 1] < begin + unit)
			i++;
		if (i >= 0 && (p.to[i] > begin || p.from[i] >= begin))
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
	const bin = model.binNs, lo = span[0] * bin;
	const unit = (span[1] + 1 - span[0]) * bin / width;
	const list = piecesOf(v, groupsLeft(v)), sum = list.sum;
	const columns = columnsOf(list, lo, unit, width);
	const depth = [], label = [], first = [], last = [], rows = [];
	const cache = new Map();
	const several = [];
	let open = [], nodes = [];		// boxes, and what they show
	let next = piecesBefore(list, lo);	// piece that no box has yet

	for (let x = 0; x < width; x++) {
		const i = columns[x];
		const frames = i < 0 ? [] : framesOf(list.node[i], cache);
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
	for (; i < o.list.n; i++) {
		const x = (o.list.from[i] - o.lo) / o.unit;

		if (x > g.width)
			break;
		c.fillRect(x, y, 1, ROW - 1);
	}
}

// Returns what the tip says about a box besides its name.
function timesOf(o, at)
{
	const p = o.list, wait = p.wait[o.first[at]];
	const from = p.from[o.first[at]];

	return "from " + since(model.t0 + BigInt(Math.round(from))) +
		" s, for " + inTime(Math.round(p.to[o.last[at]] - from)) +
		(o.several[at] ? "; some share a pixel, + tells them apart" : "") +
		(o.samples[at] === 1 && wait >= 0 ? "; " + waitWords(wait) : "");
}

// Lets the picture show the time of a box.
function zoomTime(at)
{
	const o = flame.sel, bin = model.binNs;
	const a = Math.floor(o.list.from[o.first[at]] / bin);
	const b = Math.ceil(o.list.to[o.last[at]] / bin) - 1;

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
	const add = (text, id) =>
		list.append(element("option", text, "", { value: id }));

	const most = weights => Array.from(weights.keys()).filter(i =>
		weights[i] || i === view.lane || i === -1 - view.lane)
		.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, LANES);

	add("merged", "");
	most(sel.cpus).forEach(i => add("in time: " + cpuName(i), -1 - i));
	most(sel.threads).forEach(i => add("in time: " + threadName(i), i));
}
