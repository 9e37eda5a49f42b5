// page_model.js - the data of the page, and sums over what a view shows.
//
// Nothing here draws. page_data.h describes the blocks of data.
// A view is { event, time, threads, cpus, verdicts, frames, reverse, took, span,
// zoom, func, alone, heat, diff }: diff is that of page_diff.js; alone collapses
// recursion; heat shows a heat map; took is null or [first, last] of its rows;
// func is the label of which callers and callees are shown, or null; time and span, the part that the strip shows, are null or [first bin,
// last bin], the three sets are null for "all", frames are [{ label, keep }].
// select(view) adds up the samples that pass.
performance.mark("begin");
const model = load();

// Returns what follows the last slash of a path.
const imageName = path => path.slice(path.lastIndexOf("/") + 1);

function bytesOf(id)
{
	const text = document.getElementById(id).textContent;

	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);

	const raw = atob(text);		// browsers before 2025
	const out = new Uint8Array(raw.length);

	for (let i = 0; i < raw.length; i++)
		out[i] = raw.charCodeAt(i);
	return out;
}

function reader(id)
{
	const bytes = bytesOf(id);
	let at = 0;

	function next()
	{
		let b = bytes[at++];

		if (b < 128)
			return b;		// most are

		let v = b & 127, unit = 128;

		do {
			b = bytes[at++];
			v += (b & 127) * unit;
			unit *= 128;
		} while (b > 127);
		return v;
	}

	return {
		next: next,
		signed: () => {
			const v = next();

			return v % 2 ? -(v + 1) / 2 : v / 2;
		}
	};
}

function loadNodes(n)
{
	const r = reader("nodes");
	const depth = new Uint32Array(n), label = new Uint32Array(n);

	for (let i = 0; i < n; i++) {
		depth[i] = r.next();
		label[i] = r.next();
	}
	return Object.assign(treeOf(depth), { label: label });
}

function loadGroups(n)
{
	const r = reader("groups");
	const g = {
		n: n, event: new Uint16Array(n), thread: new Uint32Array(n),
		verdict: new Uint8Array(n), node: new Uint32Array(n),
		inferred: new Uint32Array(n)
	};

	for (let i = 0; i < n; i++) {
		g.event[i] = r.next();
		g.thread[i] = r.next();
		g.verdict[i] = r.next();
		g.node[i] = r.next();
		g.inferred[i] = r.next();
	}
	return g;
}

// word: what page_data.h has after each interval; 0: a sample.
function loadSamples(id, n, groups, events)
{
	const r = n ? reader(id) : null;
	const s = {
		n: n, time: new Uint32Array(n), group: new Uint32Array(n),
		cpu: new Uint16Array(n), weight: new Float64Array(n),
		word: new Uint32Array(n),
		sorted: true, total: new Float64Array(events)
	};
	const last = new Float64Array(events);
	let time = 0, cpus = 0, first = Infinity;

	for (let i = 0; i < n; i++) {
		s.time[i] = time += r.signed();
		if (i && time < s.time[i - 1])
			s.sorted = false;
		if (time && time < first)
			first = time;
		s.group[i] = r.next();

		const c = s.cpu[i] = r.next();

		if (c > cpus)
			cpus = c;

		const e = groups.event[s.group[i]];

		s.total[e] += s.weight[i] = last[e] += r.signed();
		s.word[i] = id === "intervals" ? r.next() : 0;
	}
	return Object.assign(s, { cpus: cpus, first: first - 1 });
}

// Puts the proved intervals among the samples, by time: each is one, as heavy as
// it is long. The others, of which less is known, stay apart.
function addIntervals(m)
{
	const s = m.sample, events = m.events.length;
	const all = loadSamples("intervals", m.intervals.n, m.group, events);
	const rest = Array.from(all.word.keys()).filter(i => all.word[i] % 16);
	const from = new Float64Array(s.n + all.n - rest.length);

	m.unknown = { n: rest.length };
	for (let i = 0, a = 0, b = 0; i < from.length; i++) {
		while (b < all.n && all.word[b] % 16)
			b++;
		from[i] = b === all.n || (a < s.n && s.time[a] <= all.time[b]) ?
			a++ : -1 - b++;
	}
	for (const k of ["time", "group", "cpu", "weight", "word"]) {
		const own = s[k];

		m.unknown[k] = own.constructor.from(rest, i => all[k][i]);
		s[k] = all.n ? own.constructor.from(from, i =>
			i < 0 ? all[k][-1 - i] : own[i]) : own;
	}
	s.n = from.length;
	s.sorted = s.sorted && all.sorted;
	s.cpus = Math.max(s.cpus, all.cpus);
	all.total.forEach((w, e) => { s.total[e] += w; });
	rest.forEach(i => {
		const e = m.group.event[all.group[i]];

		s.total[e] -= all.weight[i];
		m.events[e][2]++;
	});
}

const isLatency = event => event >= model.intervals.first &&
	event < model.intervals.first + model.intervals.kinds;
// Returns the row of the heat map for a length.
const rowOf = ns => ns < 2 ? 0 : Math.floor(Math.log2(ns));
const isUnknown = (ns, word) => word % 16 > 0 && !ns;
// Returns whether a length is not among the chosen ones.
function isOut(v, ns, word = 0)
{
	const row = v.took === null || isUnknown(ns, word) ? -1 : rowOf(ns);

	return v.took !== null && (row < v.took[0] || row > v.took[1]);
}

// Waits and runs: begin and length in ns since t0. ready: since when the thread
// was ready, in ns since the begin, -1: not known.
function loadWaits(n)
{
	const r = reader("waits");
	const w = {
		n: n, from: new Float64Array(n), ns: new Float64Array(n),
		group: new Uint32Array(n), ready: new Float64Array(n),
		cause: new Uint16Array(n),	// 0: not known
		proof: new Uint8Array(n),	// of the waker; 0: there is none
		waker: new Uint32Array(n),	// group of its stack
		by: new Uint16Array(n)	// word of that; 0: it is a thread
	};
	let from = 0;

	for (let i = 0; i < n; i++) {
		w.from[i] = from += r.signed();
		w.ns[i] = r.next();
		w.group[i] = r.next();
		w.cause[i] = r.next();
		w.ready[i] = r.next() - 1;
		w.proof[i] = r.next();
		if (w.proof[i]) {
			w.waker[i] = r.next();
			w.by[i] = r.next();
		}
	}
	return w;
}

function loadRuns(n)
{
	const r = reader("runs");
	const run = {
		n: n, from: new Float64Array(n), ns: new Float64Array(n),
		cpu: new Uint16Array(n), thread: new Uint32Array(n)
	};
	let from = 0;

	for (let i = 0; i < n; i++) {
		run.from[i] = from += r.signed();
		run.ns[i] = r.next();
		run.cpu[i] = r.next() + 1;
		run.thread[i] = r.next();
	}
	return run;
}

// An event may be the sum of others: parts has the numbers of them.
function addWall(m)
{
	const on = m.events[m.clock], off = m.events[m.waits.event];

	m.parts = m.events.map((e, i) => [i]);
	if (!on || !off)
		return;
	m.parts.push([m.clock, m.waits.event]);
	m.events.push([on[0] + " and " + off[0], "ns", on[2] + off[2],
		       on[3] + off[3]]);
	if (m.wall)
		m.event = m.events.length - 1;
}

// Gives each label the first one of its function, where labels differ in what
// the call-site check says; inlined functions also in what they are inlined into.
function numberRows(labels)
{
	const first = new Map();

	labels.forEach((l, i) => {
		const c = l.kind[0];
		const key = JSON.stringify(["gmew".includes(c) ? c : "",
			l.inlined, l.name, l.file, l.inlined ? "" : l.off]);

		if (!first.has(key))
			first.set(key, i);
		l.row = first.get(key);
	});
}

function load()
{
	const m = JSON.parse(document.getElementById("meta").textContent);

	m.labels = m.labels.map(l => ({
		name: l[10] || l[0], full: l[0], kind: l[1],
		kernel: l[2] % 2 === 1, inlined: l[2] > 1,
		file: m.strings[l[3]], off: l[4] || "", build: m.strings[l[5]],
		source: l[6] ? l[6][0] + (l[6][1] ? ":" + l[6][1] : "") : "",
		bogus: l[7], places: l[8], reason: l[9], says: l[11],
		gap: l[1] === "m" && l[0] === "[caller missing]"
	}));
	numberRows(m.labels);
	m.node = loadNodes(m.sizes[0]);
	m.group = loadGroups(m.sizes[1]);
	m.sample = loadSamples("samples", m.sizes[2], m.group, m.events.length);
	addIntervals(m);
	m.wait = loadWaits(m.waits.n);
	m.run = loadRuns(m.waits.runs);
	m.chain = loadChains(m);
	m.sample.total[m.waits.event] = m.wait.ns.reduce((a, b) => a + b, 0);
	addWall(m);
	m.trees = [{ node: m.node, leaf: m.group.node }];
	m.cpus = m.run.cpu.reduce((a, b) => a > b ? a : b, m.sample.cpus) + 1;
	m.t0 = BigInt(m.t0);
	m.bin = BigInt(m.bin);
	m.binNs = Number(m.bin);
	// waits have what samples have, too
	Object.assign(m.wait, {
		time: Uint32Array.from(m.wait.from, ns => ns / m.binNs + 1),
		weight: m.wait.ns, cpu: new Uint16Array(m.wait.n),
		word: new Uint32Array(m.wait.n)
	});
	// time begins with the first sample
	m.first = Math.min(m.sample.first, Math.max(m.bins, 1) - 1);
	m.origin = m.t0 + BigInt(m.first) * m.bin;
	return m;
}

// Returns the name that is shown for a full one.
let shownNames = null;
function shownName(full)
{
	shownNames = shownNames ||
		new Map(model.labels.map(l => [l.full, l.name]));
	return shownNames.get(full) || full;
}

// Returns the name for a line of a table: of a long one both ends, unless
// another would then look like it.
const LINE_NAME = 72;
let lineNames = null;	// how often each is there
function lineName(name)
{
	const cut = s => s.length <= LINE_NAME ? s :
		s.slice(0, LINE_NAME / 2 - 1) + "\u2026" +
		s.slice(-LINE_NAME / 2);

	if (!lineNames) {
		lineNames = new Map();
		for (const s of new Set(model.labels.map(l => l.name)))
			lineNames.set(cut(s), 1 + (lineNames.get(cut(s)) || 0));
	}
	return lineNames.get(cut(name)) > 1 ? name : cut(name);
}

// Returns the labels of a stack from the root on, or the other way round;
// alone: a function that calls itself is there once. Frames without a name may
// be different functions.
function stackOf(t, leaf, reverse, alone)
{
	const out = [];

	for (let i = leaf; i > 0; i = t.parent[i]) {
		const l = t.label[i];

		if (!alone || l !== out[out.length - 1] ||
		    "gn".includes(model.labels[l].kind[0]))
			out.push(l);
	}
	return reverse ? out : out.reverse();
}

// Makes another tree of all stacks. Returns its nodes as keys made of parent and
// rank of label, and for each old leaf the new one.
function turnStacks(t, leaves, rank, reverse, alone)
{
	const size = rank.length;
	const known = new Map();	// key to number, in order of making
	const turned = new Map();	// leaf to number

	for (const leaf of leaves) {
		let at = 0;

		if (turned.has(leaf))
			continue;
		for (const l of stackOf(t, leaf, reverse, alone)) {
			const key = at * size + rank[l];

			at = known.get(key);
			if (at === undefined)
				known.set(key, at = known.size + 1);
		}
		turned.set(leaf, at);
	}
	return { known: known, turned: turned };
}

// Returns that tree, numbered as the nodes of the page are: children
// sorted by name, parents before their subtrees.
function turnTree(reverse, alone)
{
	const t = model.trees[0].node, leaves = model.trees[0].leaf;
	const size = model.labels.length;
	const byName = Array.from(model.labels.keys()).sort((a, b) => {
		const x = model.labels[a].full, y = model.labels[b].full;

		return x < y ? -1 : x > y ? 1 : a - b;
	});
	const rank = new Uint32Array(size);

	byName.forEach((l, i) => { rank[l] = i; });

	const { known, turned } = turnStacks(t, leaves, rank,
					     reverse, alone);
	const n = known.size + 1;
	const keys = Float64Array.from(known.keys()).sort();
	const first = new Uint32Array(n + 1);	// child in keys, by parent
	const depths = new Uint32Array(n), labels = new Uint32Array(n);
	const number = new Uint32Array(n);
	const todo = [[0, 0]];			// old number, depth
	let next = 0;

	keys.forEach(k => { first[Math.floor(k / size) + 1]++; });
	for (let i = 0; i < n; i++)
		first[i + 1] += first[i];
	labels[0] = t.label[0];
	while (todo.length) {
		const [old, depth] = todo.pop();

		number[old] = next;
		depths[next++] = depth;
		for (let i = first[old + 1]; i-- > first[old];)
			todo.push([known.get(keys[i]), depth + 1]);
	}
	known.forEach((old, key) => {
		labels[number[old]] = byName[key % size];
	});
	return {
		node: Object.assign(treeOf(depths), { label: labels,
						      turned: reverse }),
		leaf: leaves.map(l => number[turned.get(l)])
	};
}

function useTree(reverse, alone)
{
	const i = (reverse ? 1 : 0) + (alone ? 2 : 0);

	if (!model.trees[i])
		model.trees[i] = turnTree(reverse, alone);
	model.node = model.trees[i].node;
	model.group.node = model.trees[i].leaf;
}

// Returns the node of the tree shown of which the frame of a group's stacks was
// inferred, 0 if there is none: of several with its name the one nearest to the
// innermost.
function inferredOf(group)
{
	const t = model.node, first = model.trees[0].node;
	const at = model.group.inferred[group];
	let found = 0;

	if (!at || t === first)
		return at;
	for (let i = model.group.node[group]; i > 0; i = t.parent[i])
		if (t.label[i] === first.label[at] && (t.turned || !found))
			found = i;
	return found;
}

// Returns the weight of the selected samples in which a frame was inferred.
function inferredWeight(at)
{
	let sum = 0;

	for (let i = 0; i < model.group.n; i++)
		if (!sel.left[i] && model.group.inferred[i] &&
		    inferredOf(i) === at)
			sum += sel.groupWeight[i];
	return sum;
}

// Returns flags for each group: 1 its thread is left out, 2 its verdict, 16 all
// of it.
function groupsLeft(view)
{
	const g = model.group, wanted = model.parts[view.event];
	const left = view.frames.length ? stacksLeft(model.node,
		view.frames.map(f => ({ key: f.label, keep: f.keep })),
		i => model.node.label[i]) : null;
	const out = new Uint8Array(g.n);

	for (let i = 0; i < g.n; i++) {
		if (!wanted.includes(g.event[i]) || (left && !left[g.node[i]]))
			out[i] = 16;
		else
			out[i] = (view.threads &&
				  !view.threads.has(g.thread[i]) ? 1 : 0) |
				(view.verdicts &&
				 !view.verdicts.has(g.verdict[i]) ? 2 : 0);
	}
	return out;
}

// Returns the first of n indices for which holds(i), which must be true after
// it; n if there is none.
function searchFirst(n, holds)
{
	let lo = 0, hi = n;

	while (lo < hi) {
		const mid = lo + hi >> 1;

		if (holds(mid))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// Returns the first sample of a time or later, if they are in its order.
const sampleFrom = time => searchFirst(model.sample.n,
	i => model.sample.time[i] >= time);

// Returns the weight in columns of the span, whenever it was chosen. The last
// ones are kept: a choice of time does not change them, and undo asks for them.
const densities = new Map();
const DENSITIES = 16;
function densityOf(view, sel, columns)
{
	const s = model.sample, left = sel.left, out = sel.cpuOut;
	const list = set => set && Array.from(set);
	const span = view.span || [model.first, Math.max(model.bins, 1) - 1];
	const key = JSON.stringify([view.event, list(view.threads),
		list(view.cpus), list(view.verdicts), view.frames, view.took, span,
		columns]);
	const scale = columns / (span[1] - span[0] + 1);
	const into = new Float64Array(columns);
	const lo = span[0] + 1, hi = span[1] + 1;
	const end = s.sorted ? sampleFrom(hi + 1) : s.n;

	if (densities.has(key))
		return densities.get(key);
	for (let i = s.sorted ? sampleFrom(lo) : 0; i < end; i++) {
		const time = s.time[i];

		if (!left[s.group[i]] && !out[s.cpu[i]] && time >= lo &&
		    time <= hi && !isOut(view, s.weight[i]))
			into[(time - lo) * scale | 0] += s.weight[i];
	}
	if (model.parts[view.event].includes(model.waits.event))
		spreadWaits(view, left, out, span, into);
	densities.set(key, into);
	if (densities.size > DENSITIES)
		densities.delete(densities.keys().next().value);
	return into;
}

// Adds the waits to the columns that they last over.
function spreadWaits(view, groups, cpuOut, span, into)
{
	const w = model.wait, bin = model.binNs, n = into.length;
	const begin = span[0] * bin;
	const unit = (span[1] + 1 - span[0]) * bin / n;
	const edge = new Float64Array(n + 1);	// ns of whole columns
	let sum = 0;

	for (let i = 0; i < w.n; i++) {
		const x = (w.from[i] - begin) / unit;
		const y = x + w.ns[i] / unit;
		const a = Math.max(Math.floor(x), -1);
		const b = Math.min(Math.floor(y), n);

		if (groups[w.group[i]] || cpuOut[0] || b < 0 || a >= n ||
		    isOut(view, w.ns[i]))
			continue;
		if (a === b) {
			into[a] += w.ns[i];
			continue;
		}
		if (a >= 0)
			into[a] += (a + 1 - x) * unit;
		if (b < n)
			into[b] += (y - b) * unit;
		edge[a + 1] += unit;
		edge[b] -= unit;
	}
	for (let i = 0; i < n; i++)
		into[i] += sum += edge[i];
}

// Returns whether a part of a wait is within [lo, hi); one that ends where the
// time begins is not, unless it begins there too.
const waitsIn = (w, i, lo, hi) => w.from[i] < hi &&
	(w.from[i] >= lo || w.from[i] + w.ns[i] > lo);

// Adds the parts of the waits within the time to their groups.
function addWaits(view, groups, cpuOut, out, weight, samples)
{
	const w = model.wait, bin = model.binNs;
	const lo = view.time ? view.time[0] * bin : -Infinity;
	const hi = view.time ? (view.time[1] + 1) * bin : Infinity;

	for (let i = 0; i < w.n; i++) {
		const end = w.from[i] + w.ns[i], at = w.group[i];

		if (!waitsIn(w, i, lo, hi) || isOut(view, w.ns[i]))
			continue;

		const ns = Math.min(end, hi) - Math.max(w.from[i], lo);

		if (!groups[at])
			out.cpus[0] += ns;
		if (!cpuOut[0]) {
			weight[at] += ns;
			samples[at]++;
		}
	}
}

// Returns the strands of a tree: nodes in a row of which each has one child, and
// stacks end at the last one only. All have the same sums, and there are far
// fewer strands than nodes: start[s] is the first node of one, group[] the strand
// at which a group's stacks end. leaves are the last nodes of groups.
function strandsOf(t, leaves)
{
	const ends = new Uint8Array(t.n), of = new Uint32Array(t.n);
	const start = new Uint32Array(t.n + 1);
	let n = 0;

	if (t.strands)
		return t.strands;
	for (let i = 0; i < leaves.length; i++)
		ends[leaves[i]] = 1;
	for (let i = 0; i < t.n; i++) {
		if (!i || t.end[i] !== t.end[i - 1] || ends[i - 1])
			start[n++] = i;
		of[i] = n - 1;
	}
	start[n] = t.n;
	return t.strands = {
		n: n, start: start.slice(0, n + 1),
		parent: start.slice(0, n).map(i => i ? of[t.parent[i]] : 0),
		group: Uint32Array.from(leaves, i => of[i])
	};
}

// Arrays of a number for each node and strand, all 0 but weight and samples of
// nodes. They are those of the last selection if it was of the same tree: to
// get so much memory takes longer than the sums.
let sums = { tree: null };
function freshSums(t, leaves)
{
	const both = n => ({ weight: new Float64Array(n),
			     samples: new Uint32Array(n) });

	if (sums.tree !== t)
		sums = Object.assign(both(t.n), {
			tree: t, self: new Float64Array(t.n),
			selfSamples: new Uint32Array(t.n),
			strand: both(strandsOf(t, leaves).n)
		});
	for (let i = 0; i < leaves.length; i++)
		sums.self[leaves[i]] = sums.selfSamples[leaves[i]] = 0;
	sums.strand.weight.fill(0);
	sums.strand.samples.fill(0);
	return sums;
}

// Adds strands to those below them, and writes their sums to the nodes.
function sumStrands(s, of, { weight, samples })
{
	for (let i = s.n - 1; i > 0; i--) {
		if (!of.samples[i])
			continue;
		of.weight[s.parent[i]] += of.weight[i];
		of.samples[s.parent[i]] += of.samples[i];
	}
	for (let i = 0; i < s.n; i++) {
		const w = of.weight[i], n = of.samples[i];

		for (let k = s.start[i]; k < s.start[i + 1]; k++) {
			weight[k] = w;
			samples[k] = n;
		}
	}
}

// Adds the samples of the chosen time and CPUs to their groups.
function addSamples(view, groups, cpuOut, cpus, weight, samples)
{
	const s = model.sample;
	const lo = view.time ? view.time[0] + 1 : 0;
	const hi = view.time ? view.time[1] + 1 : Infinity;
	const some = view.time && s.sorted;
	const end = some ? sampleFrom(hi + 1) : s.n;

	for (let i = some ? sampleFrom(lo) : 0; i < end; i++) {
		const at = s.group[i], w = s.weight[i];

		if ((view.time && !some && (s.time[i] < lo || s.time[i] > hi)) ||
		    isOut(view, w))
			continue;
		if (!groups[at])
			cpus[s.cpu[i]] += w;
		if (!cpuOut[s.cpu[i]]) {
			weight[at] += w;
			samples[at]++;
		}
	}
}

// Returns threads, cpus and verdicts, the weight that each would have if it were
// chosen; whole, that of all samples of the event; groupWeight and groupSamples of
// the groups that left[] does not leave out: samples are added up by group first,
// as groups are few.
function countGroups(view)
{
	const g = model.group, groups = groupsLeft(view);
	const cpuOut = new Uint8Array(model.cpus);
	const weight = new Float64Array(g.n), samples = new Uint32Array(g.n);
	const out = {
		threads: new Float64Array(model.threads.length),
		cpus: new Float64Array(model.cpus),
		verdicts: new Float64Array(model.verdicts.length)
	};

	for (let c = 0; view.cpus && c < model.cpus; c++)
		cpuOut[c] = view.cpus.has(c) ? 0 : 4;
	addSamples(view, groups, cpuOut, out.cpus, weight, samples);
	if (model.parts[view.event].includes(model.waits.event))
		addWaits(view, groups, cpuOut, out, weight, samples);
	for (let i = 0; i < g.n; i++) {
		if (!(groups[i] & ~1))
			out.threads[g.thread[i]] += weight[i];
		if (!(groups[i] & ~2))
			out.verdicts[g.verdict[i]] += weight[i];
	}
	return Object.assign(out, { whole: model.parts[view.event].reduce(
					    (a, e) => a + model.sample.total[e], 0),
				    cpuOut: cpuOut,
				    left: groups, groupWeight: weight,
				    groupSamples: samples, by: null });
}

// What was counted for the last selections: undo, and a filter that is taken
// back, ask for them again.
const kept = new Map();
const KEPT = 8;

// Returns what countGroups() does, and weight and samples of each node with all
// above it; self and selfSamples, what ended there; strand, weight and samples of
// each strand. key: the view as text.
function select(view, key)
{
	const t = model.node, g = model.group;
	const strands = strandsOf(t, g.node);
	const count = kept.get(key) || countGroups(view);
	const out = Object.assign({ count: count }, count,
				  freshSums(t, g.node));
	const strand = out.strand;

	kept.delete(key);
	kept.set(key, count);
	if (kept.size > KEPT)
		kept.delete(kept.keys().next().value);
	for (let i = 0; i < g.n; i++) {
		const w = count.groupWeight[i], n = count.groupSamples[i];

		if (count.left[i] || !n)
			continue;
		out.self[g.node[i]] += w;
		out.selfSamples[g.node[i]] += n;
		strand.weight[strands.group[i]] += w;
		strand.samples[strands.group[i]] += n;
	}
	sumStrands(strands, strand, out);
	return out;
}

// Returns the row of each node of the tree as it was recorded: what is inlined
// follows the function that it is in, and counts for it. first: 1 for each node
// below which its row is not: a sample counts once for a function, however deep
// the recursion. A caller that is missing is no function. Made once.
function rowsOf(t)
{
	const inside = new Uint32Array(model.labels.length);
	const path = new Uint32Array(t.n);
	const row = new Uint32Array(t.n), first = new Uint8Array(t.n);
	let deep = 0;

	if (t.rows)
		return t.rows;
	for (let i = 0; i < t.n; i++) {
		const l = model.labels[t.label[i]];
		const within = l.inlined && !model.inlined_rows &&
			t.depth[i] > 2;

		while (deep > t.depth[i])
			inside[path[--deep]]--;
		row[i] = path[deep++] = within ? row[t.parent[i]] : l.row;
		first[i] = inside[row[i]]++ || l.gap ? 0 : 1;
	}
	return t.rows = { row: row, first: first };
}

// Returns self and total of each row, whichever tree is shown.
function functions(sel)
{
	const { node: t, leaf } = model.trees[0];
	const { row, first } = rowsOf(t);
	const s = strandsOf(t, leaf), n = model.labels.length;
	const weight = new Float64Array(s.n);
	const out = {
		self: new Float64Array(n), total: new Float64Array(n),
		samples: new Float64Array(n)
	};

	for (let i = 0; i < leaf.length; i++) {
		if (sel.left[i])
			continue;
		weight[s.group[i]] += sel.groupWeight[i];
		out.self[row[leaf[i]]] += sel.groupWeight[i];
		out.samples[row[leaf[i]]] += sel.groupSamples[i];
	}
	for (let i = s.n - 1; i > 0; i--)
		weight[s.parent[i]] += weight[i];
	for (let i = 0; i < s.n; i++)
		for (let k = s.start[i]; weight[i] && k < s.start[i + 1]; k++)
			if (first[k])
				out.total[row[k]] += weight[i];
	return out;
}

// Grows a tree of merged places, heaviest children first, and returns it with
// its sums. A group is { label, weight, samples, self, leaf, at }: the places
// at[] of stacks whose sums are those of leaf[]. next(group, add) calls
// add(leaf, at) for the places beyond; groups lighter than `least` end there.
function grow(sel, root, least, next)
{
	const out = { weight: [], samples: [], self: [] };
	const depth = [], label = [], todo = [[root, 0]];

	while (todo.length) {
		const [m, d] = todo.pop();
		const kids = new Map();

		depth.push(d);
		label.push(m.label);
		for (const k in out)
			out[k].push(m[k]);
		if (m.weight >= least)
			next(m, (leaf, at) => join(sel, kids, leaf, at));
		Array.from(kids.values()).sort((a, b) =>
			a.weight - b.weight || b.label - a.label)
			.forEach(k => todo.push([k, d + 1]));
	}
	out.tree = Object.assign(treeOf(depth), { label: label });
	return out;
}

function join(sel, groups, leaf, at, l = model.node.label[at])
{
	let m = groups.get(l);

	if (!m)
		groups.set(l, m = { label: l, weight: 0, samples: 0, self: 0,
				    leaf: [], at: [] });
	m.weight += sel.weight[leaf];
	m.samples += sel.samples[leaf];
	m.self += leaf === at ? sel.self[leaf] : 0;
	m.leaf.push(leaf);
	m.at.push(at);
}

// Returns callers and callees of a function, merged over all its places. Only
// its outermost place in a stack counts: each sample once.
function around(sel, func)
{
	const t = model.node, found = new Map();
	const row = model.labels[func].row;

	for (let i = 0; i < t.n; i++) {
		if (sel.weight[i] && model.labels[t.label[i]].row === row)
			join(sel, found, i, i, func);
		else if (sel.weight[i])
			continue;
		i = t.end[i] - 1;
	}

	const root = found.get(func) || { label: func, weight: 0, samples: 0,
					  self: 0, leaf: [], at: [] };
	const least = root.weight / 4000;	// less than a px

	return {
		callers: grow(sel, root, least, (m, add) =>
			m.at.forEach((at, i) => t.parent[at] > 0 &&
				     add(m.leaf[i], t.parent[at]))),
		callees: grow(sel, root, least, (m, add) => m.at.forEach(at => {
			for (let i = at + 1; i < t.end[at]; i = t.end[i])
				if (sel.weight[i])
					add(i, i);
		}))
	};
}

// Returns the ns at which a bin begins, exactly.
const nsOf = bin => model.t0 + BigInt(bin) * model.bin;

// Returns the end of a bin for --time, which adds 999 ns to its end.
const lastOf = bin => nsOf(bin + 1) - (model.bin >= 1000n ? 1000n : 1n);

// Returns seconds with nine decimals, as 'backstitch script' and --time.
function seconds(ns)
{
	const sign = ns < 0n ? "-" : "";
	const v = ns < 0n ? -ns : ns;

	return sign + v / 1000000000n + "." +
		String(v % 1000000000n).padStart(9, "0");
}

// Returns seconds since the first sample.
const since = ns => seconds(ns - model.origin);

// Returns the bin of a time in seconds since the first sample, NaN if the text
// is not a number.
function binOf(text)
{
	const m = /^\s*(-?)(\d+)(?:\.(\d{0,9})\d*)?\s*$/.exec(text);

	if (!m)
		return NaN;

	const v = BigInt(m[2]) * 1000000000n +
		BigInt((m[3] || "").padEnd(9, "0"));
	const ns = (m[1] ? -v : v) + model.origin - model.t0;

	return ns < 0n ? 0 : Math.min(Number(ns / model.bin),
					 Math.max(model.bins - 1, 0));
}
