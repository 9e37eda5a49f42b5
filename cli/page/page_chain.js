// page_chain.js - the chain of causes of the chosen wait: over the tracks, in
// words, and as a flame graph.
//
// A chain is { edges, parts }: an edge is { at, waiter, waker, what, proof, irq },
// at in ns since t0, irq "irq:NAME", "timer" or undefined; a part { from, ns,
// thread, state, proof, cpu, words, path }, with the edges that lead to it. Words of states are those of 'backstitch path'.
const CHAIN_ROWS = 200;	// more are counted only
const BAR = 19;		// px of a row of the graph

// Returns the chains by the number of their wait.
function loadChains(m)
{
	const r = reader("chains"), all = new Map(), word = m.chains.states;
	const text = [undefined].concat(m.chains.words);

	for (let i = 0; i < m.chains.n; i++) {
		const wait = r.next(), edges = r.next(), parts = r.next();
		const begin = m.wait.from[wait];
		let from = begin;

		all.set(wait, {
			premise: m.chains.premise,
			edges: Array.from({ length: edges }, () => ({
				at: begin + r.signed(), waiter: r.next(),
				waker: r.next(), what: word[r.next()],
				proof: r.next(), irq: text[r.next()]
			})),
			parts: Array.from({ length: parts }, () => {
				const p = {
					from: from, ns: r.next(),
					thread: r.next(), state: word[r.next()],
					proof: r.next(), cpu: r.next(),
					words: text[r.next()]
				};

				p.path = Array.from({ length: r.next() },
						    () => r.next());
				from += p.ns;
				return p;
			})
		});
	}
	return all;
}

const chainOf = k => k === null ? undefined : model.chain.get(k);

const contextColor = { timer: "--gap", hardirq: "--lost", softirq: "--lost",
		       disk: "--lost", idle: "--other" };

// Draws the chain of the chosen wait: the wait is dimmed, a line goes where the
// time went, and an arrow to each thread that was woken. top: px scrolled.
function drawChain(c, high, top)
{
	const chain = chainOf(view.wait);

	if (!chain)
		return;

	const y = new Map(tracks.lanes.map((l, i) =>
		[l.cpu === undefined ? l.thread : -1, i * LANE - top + LANE / 2 - 1]));
	const w = model.wait, k = view.wait;
	const own = y.get(model.group.thread[w.group[k]]);
	const x0 = tracks.x(w.from[k]), x1 = tracks.x(w.from[k] + w.ns[k]);

	c.save();
	c.beginPath();
	c.rect(0, 0, strip.width, high);
	c.clip();
	if (own !== undefined)
		dim(c, 0.6, [x0, own - LANE / 2 + 3, x1 - x0, LANE - 8]);
	chain.parts.forEach((p, i) => drawPart(c, y, p, chain.parts[i - 1]));
	chain.edges.forEach(e => drawEdge(c, y, e));
	c.restore();
}

function drawPart(c, y, p, last)
{
	const at = y.get(p.thread), x = tracks.x(p.from);
	const wide = tracks.x(p.from + p.ns) - x;

	if (at === undefined)
		return;
	c.strokeStyle = css("--ink");
	if (!p.proof) {
		c.fillStyle = hatch(c, "m");
		c.fillRect(x, at - 6, Math.max(wide, 1), 12);
		c.lineWidth = 1;
		c.strokeRect(x, at - 6, Math.max(wide, 1), 12);
	} else {
		c.setLineDash(p.proof === 1 ? [5, 4] : []);
		c.lineWidth = 3;
		line(c, x, at, x + Math.max(wide, 1), at);
	}
	c.setLineDash([2, 3]);
	c.lineWidth = 1;
	if (last && y.has(last.thread) && last.thread !== p.thread)
		line(c, x, y.get(last.thread), x, at);
	c.setLineDash([]);
}

function line(c, x, y, x1, y1)
{
	c.beginPath();
	c.moveTo(x, y);
	c.lineTo(x1, y1);
	c.stroke();
}

// From the waker's lane to the waiter's; an interrupt comes from above.
function drawEdge(c, y, e)
{
	const to = y.get(e.waiter), x = tracks.x(e.at);
	const thread = contextColor[e.what] === undefined;
	const from = thread ? y.get(e.waker) : to - 9;

	if (to === undefined || from === undefined || from === to)
		return;

	const down = to > from ? -1 : 1;

	c.strokeStyle = c.fillStyle = css(contextColor[e.what] || "--accent");
	c.lineWidth = 2;
	c.setLineDash(e.proof === 2 ? [] : [4, 3]);
	line(c, x, from, x, to);
	c.setLineDash([]);
	c.beginPath();
	c.moveTo(x, to);
	c.lineTo(x - 4, to + down * 7);
	c.lineTo(x + 4, to + down * 7);
	c.fill();
}

const chainWord = {
	timer: "waits for a timer",
	hardirq: "waits for an interrupt", softirq: "waits for an interrupt",
	disk: "waits for a disk",
	idle: "waits, woken by an idle CPU", signal: "waits, ended by a signal",
	blocked: "waits, woken by whom is not known",
	off: "is off the CPU, blocked or ready", unborn: "is not born",
	dead: "has exited"
};

function partWords(chain, p)
{
	const name = threadName(p.thread);
	const e = chain.edges[p.path[p.path.length - 1]];

	if (p.state === "unknown")
		return "not known what " + name + " did";
	if (e && e.irq && contextColor[p.state] !== undefined)
		return name + " waits for " + e.irq.replace(/^irq:/, "interrupt ")
			.replace(/^softirq:/, "softirq ")
			.replace(/^disk:/, "disk ")
			.replace(/^timer$/, "a timer");
	if (p.state !== "run")
		return name + " " + (p.words || chainWord[p.state]);
	return name + " runs on " + cpuName(p.cpu) +
		(e && e.waker === p.thread && e.at === p.from + p.ns ?
		 "; wakes " + threadName(e.waiter) : "");
}

// Returns "88.80 % proved, 11.20 % not known".
function chainTrust(chain, ns)
{
	const sum = [0, 0, 0];

	chain.parts.forEach(p => { sum[p.proof] += p.ns; });
	return [[2, " proved"], [1, " likely"], [0, " not known"]]
		.filter(([i]) => sum[i] || i === 2)
		.map(([i, word]) => percent(sum[i], ns) + word)
		.concat(sum[2] || sum[1] ? chain.premise || [] : []).join(", ");
}

function chainTable(chain, begin)
{
	const table = element("table", undefined, "chain");
	const row = (tag, cells) => {
		const tr = element("tr");

		cells.forEach((text, i) =>
			tr.append(element(tag, text, i < 2 ? "n" : undefined)));
		table.append(tr);
		return tr;
	};

	row("th", ["at us", "for us", "why", "proof"]);
	chain.parts.slice(0, CHAIN_ROWS).forEach(p => {
		const tr = row("td", [((p.from - begin) / 1e3).toFixed(1),
				      (p.ns / 1e3).toFixed(1),
				      partWords(chain, p), proofWord[p.proof]]);

		tr.className = "p" + p.proof;
		tr.cells[2].style.paddingLeft =
			Math.min(p.path.length, 8) * 14 + 6 + "px";
	});
	return table;
}

// Adds up the parts by who waited for whom: { name, ns, proof (ns by proof),
// below }.
function chainTree(chain, k)
{
	const node = name => ({ name: name, ns: 0, proof: [0, 0, 0],
				below: new Map() });
	const asker = model.group.thread[model.wait.group[k]];
	const root = node(threadName(asker));

	chain.parts.forEach(p => {
		let at = root;
		const go = name => {
			if (!at.below.has(name))
				at.below.set(name, node(name));
			at = at.below.get(name);
		};
		const add = () => {
			at.ns += p.ns;
			at.proof[p.proof] += p.ns;
		};

		add();
		p.path.forEach(i => {
			const e = chain.edges[i];

			if (contextColor[e.what] !== undefined)
				return;
			go("woken by " + threadName(e.waker));
			add();
		});
		const e = chain.edges[p.path[p.path.length - 1]];

		go(contextColor[p.state] !== undefined && e.irq || p.state);
		add();
	});
	return root;
}

// Draws a tree into a box, the asker at the top. Each frame is a button.
function chainGraph(tree)
{
	const box = element("div", undefined, "bars");
	let rows = 0;
	const put = (n, x, depth) => {
		const b = element("button", undefined, n.proof[0] === n.ns ?
			"p0" : n.proof[2] === n.ns ? "p2" : "p1");

		b.append(element("span", n.name));
		b.style.left = x / tree.ns * 100 + "%";
		b.style.width = n.ns / tree.ns * 100 + "%";
		b.style.top = depth * BAR + "px";
		b.title = n.name + ": " + inTime(n.ns) + ", " +
			percent(n.ns, tree.ns) + " of the wait; " +
			percent(n.proof[2], n.ns) + " proved";
		b.onclick = () => {
			$("details").textContent = b.title;
		};
		box.append(b);
		rows = Math.max(rows, depth + 1);
		[...n.below.values()].sort((a, b) => b.ns - a.ns).forEach(d => {
			put(d, x, depth + 1);
			x += d.ns;
		});
	};

	put(tree, 0, 0);
	box.style.height = rows * BAR + "px";
	return box;
}

// Adds the chain of a wait to its panel, or why there is none.
function showChain(box, k)
{
	const chain = chainOf(k), w = model.wait;
	const part = element("div", undefined, "", { id: "chain" });
	const left = model.chains.left_out;

	if (!chain) {
		if (model.waits.wakes && stateOf(k)[0] !== "R")
			box.append(element("p", "Its chain is not here: the " +
				"page has those of " + model.chains.n +
				" waits, the longest of each thread; 'backstitch " +
				"path --tid TID --time FROM,TO' shows any.",
				"quiet"));
		return;
	}
	part.append(element("h3", "Why it took so long: " +
			    chainTrust(chain, w.ns[k])),
		    chainGraph(chainTree(chain, k)),
		    chainTable(chain, w.from[k]));
	if (chain.parts.length > CHAIN_ROWS)
		part.append(element("p", "and " +
			grouped(chain.parts.length - CHAIN_ROWS) + " more pieces",
			"quiet"));
	if (left)
		part.append(element("p", grouped(left) + " other waits have no " +
			"chain here", "quiet"));
	box.append(part);
}
