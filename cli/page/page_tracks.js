// page_tracks.js - CPUs and threads over time: what ran, waits, wake-ups,
// losses, or samples where no switches were recorded.
//
// A lane is { thread } or { cpu }, both numbered as in samples. It has the
// indexes of its runs, waits and samples, ordered by time.
const LANE = 22;	// px, of which 20 are filled
const LANES = 300;	// threads beyond are in the list only

// Sorts indexes by key: those of key k are item[start[k]] to start[k + 1].
function bucket(key, n, keys)
{
	const start = new Uint32Array(keys + 1), item = new Uint32Array(n);

	for (let i = 0; i < n; i++)
		start[key(i) + 1]++;
	for (let k = 0; k < keys; k++)
		start[k + 1] += start[k];

	const next = start.slice();

	for (let i = 0; i < n; i++)
		item[next[key(i)]++] = i;
	return k => item.subarray(start[k], start[k + 1]);
}

// Returns how many of the items begin before a time.
const before = (items, time, from) => searchFirst(items.length,
	i => from[items[i]] >= time);

const sampleNs = i => (model.sample.time[i] - 1) * model.binNs;

// Returns a function that gives the samples of a key, ordered by time: of a
// thread, of a CPU. Made when it is first asked.
function samplesBy(keyOfSample, keys)
{
	const s = model.sample;
	let all = null;

	return key => {
		all = all || bucket(keyOfSample, s.n, keys);
		return s.sorted ? all(key) : all(key).sort((a, b) =>
			s.time[a] - s.time[b]);
	};
}

const samplesOfThread = samplesBy(k =>
	model.group.thread[model.sample.group[k]], model.threads.length);
const samplesOfCpu = samplesBy(k => model.sample.cpu[k], model.cpus);

// Makes the lanes: CPUs, then threads by the time that they ran or else by
// their samples, most first.
function makeLanes()
{
	const { group, run, wait } = model;
	const threads = model.threads.length;
	const of = (what, n, keys, list) => what.n ?
		bucket(list, what.n, keys) : () => new Uint32Array(0);
	const runCpu = of(run, run.n, model.cpus, i => run.cpu[i]);
	const runThread = of(run, run.n, threads, i => run.thread[i]);
	const waits = of(wait, wait.n, threads, i =>
		group.thread[wait.group[i]]);
	const none = new Uint32Array(0);
	const ran = i => runThread(i).reduce((a, r) => a + run.ns[r], 0);
	const list = Array.from(model.threads.keys(), i => ({
		thread: i, runs: runThread(i), waits: waits(i),
		samples: samplesOfThread(i), ran: ran(i)
	})).filter(l => l.waits.length + l.samples.length ||
		// what ran at a place that is not known is on its CPU
		(l.runs.length && model.threads[l.thread][1] >= 0));

	list.sort((a, b) => b.ran - a.ran ||
		b.samples.length - a.samples.length || a.thread - b.thread);
	return Array.from({ length: model.cpus }, (x, i) => ({
		cpu: i, runs: runCpu(i), waits: none, samples: samplesOfCpu(i)
	})).filter(l => l.cpu && l.runs.length + l.samples.length)
		.concat(list.slice(0, LANES));
}

const laneName = l => l.cpu === undefined ? threadName(l.thread) :
	cpuName(l.cpu);
// A lane as a number, as views have it.
const laneId = l => l.cpu === undefined ? l.thread : -1 - l.cpu;

// Returns text that is no wider than some px. It keeps the end.
function fit(c, text, room, end = "")
{
	const whole = text.slice(0, text.length - end.length);
	let s = whole;
	const said = () => s === whole ? text : s + "\u2026" + end;

	while (s && c.measureText(said()).width > room)
		s = s.slice(0, -1);
	return said();
}

const TRACK_FONT = "12px system-ui, sans-serif";

const tracks = {
	lanes: null, width: 0, focus: -1, drawn: "",
	left: 0,	// px of the names, next to which the times are

	// Makes room for the names, so that the strip has the same times above.
	makeRoom()
	{
		const c = $("lanes").getContext("2d");
		let room = 0;

		if (view.tracks) {
			this.lanes = this.lanes || makeLanes();
			c.font = TRACK_FONT;
			this.lanes.forEach(l => {
				room = Math.max(room,
						c.measureText(laneName(l)).width);
			});
			room = Math.ceil(Math.min(room + 12, 190,
						  innerWidth * 0.3));
		}
		$("tracks").hidden = !view.tracks;
		$("strip").style.marginLeft = room + "px";
		$("strip").style.marginRight = view.tracks ?
			$("tracks").offsetWidth - $("tracks").clientWidth + "px" : "";
		this.left = room + 1;	// the strip has a border
	},

	// Returns the px of ns since t0.
	x(ns)
	{
		return strip.x(ns / model.binNs);
	},

	ns(x)
	{
		const [a, b] = strip.span;

		return (a + x * (b + 1 - a) / strip.width) * model.binNs;
	},

	draw()
	{
		const box = $("tracks"), canvas = $("lanes");

		if (box.hidden)
			return;
		canvas.parentNode.style.height = this.lanes.length * LANE + "px";

		const high = Math.min(this.lanes.length * LANE, box.clientHeight ||
				      LANE);
		const key = JSON.stringify([keyOf(view).slice(0, 4), strip.span,
			strip.width, high, box.scrollTop, this.focus,
			view.wait, this.left, darkScreen.matches, devicePixelRatio]);

		// most choices change nothing here
		if (key === this.drawn)
			return;
		this.drawn = key;

		const c = prepare(canvas, this.left + strip.width, high);

		c.textBaseline = "middle";
		c.font = TRACK_FONT;
		c.translate(this.left, 0);
		this.lanes.forEach((l, i) => {
			const y = i * LANE - box.scrollTop;

			if (y > -LANE && y < high)
				this.lane(c, l, y, i === this.focus);
		});
		if (view.time) {
			const x = strip.x(view.time[0]);
			const x1 = strip.x(view.time[1] + 1);

			dim(c, 0.55, [0, 0, x, high],
			    [x1, 0, strip.width - x1, high]);
		}
		drawChain(c, high, box.scrollTop);
	},

	lane(c, l, y, focused)
	{
		const set = l.cpu === undefined ? view.threads : view.cpus;

		fill(c, "--lane", 0, y, strip.width, LANE - 2);
		if (l.waits.length)
			this.waits(c, l, y);
		if (l.runs.length)
			this.runs(c, l, y);
		else if (!l.waits.length)
			this.samples(c, l, y);
		if (l.cpu !== undefined)
			this.losses(c, l.cpu - 1, y);
		if (focused) {
			c.strokeStyle = css("--accent");
			c.lineWidth = 2;
			c.strokeRect(1, y + 1, strip.width - 2, LANE - 4);
		}
		c.fillStyle = css(set && set.has(l.cpu === undefined ? l.thread :
						 l.cpu) ? "--accent" : "--ink");
		// the number tells threads of one name apart
		c.fillText(fit(c, laneName(l), this.left - 8,
			       laneName(l).match(/ \d+$/)?.[0]), 2 - this.left,
			   y + LANE / 2 - 1);
	},

	// Calls draw(item, x, width) for the items in sight that are a px wide,
	// and narrow(share by px) with what the others cover.
	each(items, from, ns, draw, narrow)
	{
		const lo = this.ns(0), hi = this.ns(strip.width);
		const unit = (hi - lo) / strip.width;
		const cover = new Float32Array(strip.width + 1);
		let some = false;

		for (let i = Math.max(before(items, lo, from) - 1, 0);
		     i < items.length; i++) {
			const k = items[i], x = (from[k] - lo) / unit;
			const w = ns[k] / unit;

			if (x > strip.width)
				break;
			if (x + w < 0)
				continue;
			if (w >= 1) {
				draw(k, Math.max(x, 0),
				     Math.min(x + w, strip.width) -
				     Math.max(x, 0));
				continue;
			}
			some = true;
			cover[Math.max(Math.floor(x), 0)] += w;
		}
		if (some)
			narrow(cover);
	},

	bars(c, y, cover, most)
	{
		for (let x = 0; x < cover.length; x++) {
			const h = Math.min(cover[x] / most, 1) * (LANE - 6);

			if (cover[x])
				c.fillRect(x, y + LANE - 4 - Math.max(h, 1), 1,
					   Math.max(h, 1));
		}
	},

	runs(c, l, y)
	{
		const r = model.run;

		this.each(l.runs, r.from, r.ns, (k, x, w) => {
			c.fillStyle = this.color(r.thread[k]);
			c.fillRect(x, y + 2, Math.max(w - 0.5, 0.5), LANE - 6);

			if (l.cpu === undefined || w < 45)
				return;
			c.fillStyle = css("--ink");
			c.fillText(fit(c, threadName(r.thread[k]), w - 6),
				   x + 3, y + LANE / 2 - 1);
		}, cover => {
			c.fillStyle = l.cpu === undefined ?
				this.color(l.thread) : css("--density");
			this.bars(c, y, cover, 1);
		});
	},

	// A wait: the state until the wake-up, ready to run from then on.
	waits(c, l, y)
	{
		const w = model.wait;

		this.each(l.waits, w.from, w.ns, (k, x, wide) => {
			const held = "R" === stateOf(k)[0] ? w.cause[k] :
				w.ready[k] < 0;
			const ready = held ? w.ns[k] :
				"R" === stateOf(k)[0] ? 0 : w.ready[k];
			const at = this.x(w.from[k] + ready);

			fill(c, stateOf(k) === "D" ? "--missing" : "--other", x,
			     y + LANE / 2 - 2, Math.max(Math.min(at - x, wide), 0), 2);
			if (at < x + wide)
				fill(c, "--ready", Math.max(at, x), y + LANE / 2 - 4,
				     x + wide - Math.max(at, x), 6);
			if (w.proof[k] && at >= x)
				fill(c, "--accent", at - 0.5, y + 1, 1.5, LANE - 4);
			if (k === view.wait) {
				c.strokeStyle = css("--accent");
				c.lineWidth = 1.5;
				c.strokeRect(x, y + 1, Math.max(wide, 3),
					     LANE - 4);
			}
		}, () => 0);
	},

	// Counts the samples of a lane by px. Kept, as most choices change neither
	// the event nor what the strip shows.
	cover(l)
	{
		const key = [view.event, strip.width].concat(strip.span).join();

		if (!l.cover || l.cover.key !== key)
			l.cover = this.count(l, key);
		return l.cover;
	},

	count(l, key)
	{
		const s = model.sample, parts = model.parts[view.event];
		const wanted = model.events.map((e, i) => parts.includes(i));
		const lo = this.ns(0), unit = (this.ns(strip.width) - lo) /
			strip.width;
		const bin = model.binNs;
		const cover = new Float32Array(strip.width + 1);
		const last = new Int32Array(strip.width + 1);
		const hi = strip.width;
		let most = 0;

		const end = before(l.samples, strip.span[1] + 2, s.time);

		for (let i = before(l.samples, strip.span[0] + 1, s.time);
		     i < end; i++) {
			const k = l.samples[i], at = s.group[k];
			const x = ((s.time[k] - 1) * bin - lo) / unit;

			if (x < 0 || x > hi || !wanted[model.group.event[at]])
				continue;
			last[x | 0] = model.group.thread[at];
			if (++cover[x | 0] > most)
				most = cover[x | 0];
		}
		return { key: key, cover: cover, last: last, most: most };
	},

	samples(c, l, y)
	{
		const { cover, last, most } = this.cover(l);

		c.fillStyle = l.cpu === undefined ? this.color(l.thread) :
			css("--density");
		// single samples of a CPU have the colours of their threads
		if (most < 3 && l.cpu !== undefined)
			cover.forEach((n, x) => {
				c.fillStyle = this.color(last[x]);
				if (n)
					c.fillRect(x, y + 2, 1.5, LANE - 6);
			});
		else
			this.bars(c, y, cover, most || 1);
	},

	losses(c, cpu, y)
	{
		model.bands.forEach(b => {
			if (b[1] !== cpu && b[1] >= 0)
				return;
			const x = strip.x(b[3]);

			fill(c, bandColor(b[2]), x, y + LANE - 4,
			     Math.max(strip.x(b[4] + 1) - x, 1), 2);
		});
	},

	color(thread)
	{
		return "hsl(" + Math.round(thread * 137.508) % 360 +
			(darkScreen.matches ? " 45% 40%)" : " 60% 72%)");
	},

	// Returns the wait at a px, null if there is none.
	waitAt(x, y)
	{
		const l = this.lanes[this.laneAt(y)];
		let found = null;

		// a wait is as wide as a pointer is exact
		if (l && x >= 0)
			[0, -2, 2].forEach(by => found === null &&
				this.hit(l.waits, model.wait, this.ns(x + by),
					 k => { found = k; }));
		return found;
	},

	laneAt(y)
	{
		const i = Math.floor((y + $("tracks").scrollTop) / LANE);

		return this.lanes && this.lanes[i] ? i : -1;
	},

	// Returns lines that say what happened in a lane at a px.
	at(x, y)
	{
		const l = this.lanes[this.laneAt(y)], ns = this.ns(x);
		const lines = [];

		if (!l)
			return null;
		if (x < 0)
			return [laneName(l), "a click chooses it; a double " +
				"click shows its stacks in order of time"];
		lines.push(laneName(l) + ", " +
			   since(nsOf(strip.bin(x))) + " s");
		this.hit(l.runs, model.run, ns, k => lines.push(
			threadName(model.run.thread[k]) + " ran on " +
			cpuName(model.run.cpu[k]) + " for " +
			inTime(model.run.ns[k])));
		this.hit(l.waits, model.wait, ns, k => lines.push(waitWords(k),
			"a click shows the stacks"));
		if (!l.runs.length && !l.waits.length)
			lines.push(things(this.samplesAt(l, x)) +
				   "; no switches were recorded");
		if (l.cpu !== undefined && !lines[1])
			lines.push("idle, or not known");
		return lines;
	},

	// Counts the samples of the event in a lane at a px, or in the bin that
	// is there if bins are wider.
	samplesAt(l, x)
	{
		const wanted = model.parts[view.event], s = model.sample;
		const lo = strip.bin(x);
		const hi = x + 1 < strip.width ?
			Math.max(lo + 1, strip.bin(x + 1)) : strip.span[1] + 1;
		const end = before(l.samples, hi + 1, s.time);
		let n = 0;

		for (let i = before(l.samples, lo + 1, s.time); i < end; i++)
			n += wanted.includes(
				model.group.event[s.group[l.samples[i]]]) ? 1 : 0;
		return n;
	},

	hit(items, what, ns, say)
	{
		const k = items[before(items, ns, what.from) - 1];

		if (k !== undefined && what.from[k] + what.ns[k] >= ns)
			say(k);
	}
};

// Returns the letter of a wait's state: that of the innermost frame.
function stateOf(k)
{
	const t = model.trees[0], l = t.node.label[t.leaf[model.wait.group[k]]];

	return (/ (.+)\]$/.exec(model.labels[l].name) || ["", "?"])[1];
}

function waitWords(k)
{
	const w = model.wait;

	const cause = w.cause[k] && model.waits.words[w.cause[k] - 1];
	const held = cause && "R" === stateOf(k)[0];

	return "off the CPU for " + inTime(w.ns[k]) + ": " +
		(held ? cause : stateWord[stateOf(k)] || "state " + stateOf(k)) +
		(cause && !held ? " (" + cause + ")" : "") +
		wakerWords(k);
}

// As the table of 'report --off-cpu' has it.
function wakerWords(k)
{
	const w = model.wait;

	if (w.proof[k])
		return ", woken by " + wakerName(k) + " after " +
			inTime(w.ready[k]) + " (" + proofWord[w.proof[k]] + ")";
	if (!model.waits.wakes || stateOf(k)[0] === "R")
		return "";
	return w.ready[k] === 0 ? ", woken before it had left" :
		", woken by whom is not known";
}

const proofWord = ["unknown", "likely", "proved"];

// Returns who woke a thread: a timer or another interrupt where the thread on
// the CPU was only interrupted.
function wakerName(k)
{
	const w = model.wait, word = model.waits.words[w.by[k] - 1];

	return word ? "[" + word + "]" :
		threadName(model.group.thread[w.waker[k]]);
}

// Returns the stack of a group as a list, innermost first.
function stackList(group)
{
	const { node: t, leaf } = model.trees[0];
	const list = element("ol");

	for (let i = leaf[group]; t.depth[i] > 1; i = t.parent[i]) {
		const l = model.labels[t.label[i]];
		const li = element("li");

		if (l.kind[0] === "w")
			continue;
		li.append(element("button", lineName(l.name), "link", {
			title: l.full + (l.file ? "\n" + l.file : ""),
			disabled: "gm".includes(l.kind[0]),
			onclick: () => sandwich(t.label[i])
		}));
		if (l.kernel)
			li.append(element("span", " kernel", "quiet"));
		list.append(li);
	}
	if (!list.firstChild)
		list.append(element("li", "no stack was recorded"));
	return list;
}

let shownWait = null;
function showWait()
{
	const k = view.wait, w = model.wait, box = $("wait");

	box.hidden = k === null;
	if (box.hidden || k === shownWait)
		return;
	shownWait = k;

	const halves = element("div", undefined, "halves");
	const head = element("p", threadName(model.group.thread[w.group[k]]) +
		", at " + since(model.t0 + BigInt(w.from[k])) + " s: " +
		waitWords(k), "line");
	const half = (title, group) => {
		const part = element("div");

		part.append(element("h3", title), stackList(group));
		halves.append(part);
	};

	head.append(element("button", "Close", "",
			    { onclick: () => go({ wait: null }) }));
	box.replaceChildren(head);
	showChain(box, k);
	box.append(halves);
	half(stateOf(k)[0] === "R" ? "It left the CPU in" : "It waited in",
	     w.group[k]);
	if (w.proof[k])
		half("Woken by " + wakerName(k) + " in", w.waker[k]);
}

// Returns a time such as "1.250 ms".
function inTime(ns)
{
	const u = [[1e9, " s"], [1e6, " ms"], [1e3, " us"]].find(x =>
		ns >= x[0]);

	return u ? (ns / u[0]).toFixed(3) + u[1] : ns + " ns";
}

// Chooses the lane only, or everything again.
function chooseLane(l)
{
	toggle(l.cpu === undefined ? "threads" : "cpus",
	       l.cpu === undefined ? l.thread : l.cpu);
}

const trackKey = {
	"ArrowUp": () => walkLanes(-1), "ArrowDown": () => walkLanes(1),
	"ArrowLeft": () => walkWaits(-1), "ArrowRight": () => walkWaits(1),
	"Enter": () => tracks.focus >= 0 &&
		go({ lane: laneId(tracks.lanes[tracks.focus]) }),
	"o": () => tracks.focus >= 0 && chooseLane(tracks.lanes[tracks.focus])
};

function walkLanes(by)
{
	const box = $("tracks");

	tracks.focus = Math.max(0, Math.min(tracks.focus + by,
					    tracks.lanes.length - 1));

	const y = tracks.focus * LANE;

	if (y < box.scrollTop)
		box.scrollTop = y;
	else if (y + LANE > box.scrollTop + box.clientHeight)
		box.scrollTop = y + LANE - box.clientHeight;
	tracks.draw();
	$("details").textContent = laneName(tracks.lanes[tracks.focus]) +
		": Enter shows its stacks in order of time, o chooses it";
}

// Goes on to the next wait of the lane; the first one is in sight.
function walkWaits(by)
{
	const list = tracks.focus < 0 ? [] : tracks.lanes[tracks.focus].waits;
	const at = list.indexOf(view.wait);
	const first = before(list, tracks.ns(0), model.wait.from);
	const next = at < 0 ? Math.min(first, list.length - 1) : at + by;

	if (list[next] !== undefined)
		go({ wait: list[next] });
}

function onTracks()
{
	const canvas = $("lanes");
	const nameOf = e => {
		const l = tracks.lanes[tracks.laneAt(e.offsetY)];

		return l && e.offsetX < tracks.left ? l : null;
	};

	onRange(canvas, Object.assign(timeRange(() => tracks.left, (x, y) => {
		const k = tracks.waitAt(x, y);

		go(k === null ? { time: null, wait: null } : { wait: k });
	}), {
		nameOf: nameOf, over: e => rowUnder(e, $("tracks"), LANE),
		says: e => tracks.at(e.offsetX - tracks.left, e.offsetY)
	}));
	canvas.addEventListener("click", e =>
		nameOf(e) && chooseLane(nameOf(e)));
	canvas.addEventListener("dblclick", e => {
		const l = tracks.lanes[tracks.laneAt(e.offsetY)];

		if (l)
			go({ lane: laneId(l) });
	});
	$("tracks").addEventListener("scroll", () => tracks.draw());
}
