// page_heat.js - heat maps over time: how long intervals and waits took, and when
// samples were taken.
//
// Cells are shaded by how many items they have. Of lengths, a column is a few px
// of the strip above, and row r is of 2^r ns and up to twice as much; row -1 has
// those of whose length nothing is known. Of samples, a column is a second, or a
// power of ten of it, and a row a part of that: what recurs is a pattern.
const CELL = 6, TALL = 9;	// px of a cell of lengths
const PARTS = 50, LOW = 3;	// parts of a second, and px of one
const LONGEST = 50;

const hasLengths = event => isLatency(event) || event === model.waits.event;

// Returns what an event has, as tables of the same columns; weight is what is
// known of a length, which word tells.
const tablesOf = event => event === model.waits.event ? [model.wait] :
	[model.sample, model.unknown];

// Calls take(table, i) for all that pass the filters but those of time and length.
function eachItem(v, take)
{
	tablesOf(v.event).forEach(t => {
		for (let i = 0; i < t.n; i++)
			if (!sel.left[t.group[i]] && !sel.cpuOut[t.cpu[i]] &&
			    t.time[i])
				take(t, i);
	});
}

// Returns the row of an item, -1 if nothing is known of its length.
const rowOfItem = (t, i) => isUnknown(t.weight[i], t.word[i]) ? -1 :
	rowOf(t.weight[i]);

// Of a map, row(t, i) is the number of a row from below, real(row) what is chosen
// by it, says(row) its words, and binsOf(column, row) the first and last bin of a
// cell.
function lengthMap(v)
{
	const [a, b] = strip.span, columns = Math.ceil(strip.width / CELL);
	const edge = c => a + Math.ceil(c * CELL * (b + 1 - a) / strip.width);
	let low = Infinity, top = -1, under = 0;

	eachItem(v, (t, i) => {
		const row = rowOfItem(t, i);

		under = row < 0 ? 1 : under;
		low = row < 0 ? low : Math.min(low, row);
		top = Math.max(top, row);
	});
	low = Math.min(low, top + 1);

	const real = row => row < under ? -1 : row - under + low;

	return {
		columns: columns, rows: Math.max(top + 1 - low + under, 1),
		wide: CELL, high: TALL, lengths: true, step: 2, real: real,
		column: (t, i) => Math.floor(strip.x(t.time[i] - 1) / CELL),
		row: (t, i) => Math.max(rowOfItem(t, i) - low + under, 0),
		binsOf: c => [edge(c), Math.max(edge(c), edge(c + 1) - 1)]
			.map(bin => Math.min(bin, b)),
		says: row => lengthWords([real(row), real(row)])
	};
}

function secondMap()
{
	const [a, b] = strip.span, bin = model.binNs;
	const ns = (b + 1 - a) * bin;
	let unit = 1e9;

	while (ns / unit < 10 && unit / 10 >= PARTS * bin)
		unit /= 10;
	while (ns / unit > strip.width / 2)
		unit *= 10;

	// bins divide a part: both are 1, 2 or 5 times a power of ten
	const part = unit / PARTS / bin;
	const at = (t, i) => Math.floor((t.time[i] - 1 - model.first) / part);
	const first = Math.floor((a - model.first) / part / PARTS);
	const last = Math.floor((b - model.first) / part / PARTS);

	return {
		columns: last - first + 1, rows: PARTS, step: 10,
		wide: strip.width / (last - first + 1), high: LOW,
		real: row => row,
		column: (t, i) => Math.floor(at(t, i) / PARTS) - first,
		row: (t, i) => at(t, i) % PARTS,
		binsOf: (c, row) => {
			const from = model.first + part *
				((c + first) * PARTS + row);

			return [from, Math.min(from + part, model.bins) - 1];
		},
		says: row => inTime(row * unit / PARTS) + " after a " +
			(unit === 1e9 ? "second" : "step of " + inTime(unit))
	};
}

function countCells(v, m)
{
	m.n = new Uint32Array(m.columns * m.rows);
	m.unknown = new Uint32Array(m.n.length);
	eachItem(v, (t, i) => {
		const c = m.column(t, i), at = c * m.rows + m.row(t, i);

		if (c < 0 || c >= m.columns || t.time[i] > strip.span[1] + 1)
			return;
		m.n[at]++;
		m.unknown[at] += t.word[i] % 16 ? 1 : 0;
	});
	m.most = m.n.reduce((a, b) => a > b ? a : b, 1);
	return m;
}

const heat = {
	map: null, key: "", drag: null,

	draw(v)
	{
		const all = keyOf(Object.assign({}, v, { time: null, took: null }));
		const key = JSON.stringify([all.slice(0, 8), strip.span,
					    strip.width]);

		$("heat").hidden = !v.heat;
		if (!v.heat)
			return;
		if (key !== this.key)
			this.map = countCells(v, hasLengths(v.event) ?
				lengthMap(v) : secondMap());
		this.key = key;
		this.paint(this.drag ? this.range(...this.drag) : v);
	},

	// shown: { time, took }, of which the cells are not dimmed.
	paint(shown)
	{
		const m = this.map;
		const c = prepare($("heat"), strip.width, m.rows * m.high);

		fill(c, "--lane", 0, 0, strip.width, m.rows * m.high);
		m.n.forEach((n, at) => {
			const x = Math.floor(at / m.rows), row = at % m.rows;
			const box = [x * m.wide, (m.rows - 1 - row) * m.high,
				     Math.max(m.wide - 1, 1), m.high - 1];

			if (!n)
				return;
			c.globalAlpha = this.has(shown, x, row) ? 1 :
				0.3;
			if (m.unknown[at]) {
				c.fillStyle = hatch(c, "m");
				c.fillRect(...box);
			}
			c.globalAlpha *= (m.unknown[at] ? 0.1 : 0.2) +
				0.8 * Math.sqrt((n - m.unknown[at]) / m.most);
			if (n > m.unknown[at])
				fill(c, "--accent", ...box);
		});
		c.globalAlpha = 1;
		this.scale(c, m);
	},

	scale(c, m)
	{
		c.font = "10px system-ui, sans-serif";
		c.textBaseline = "middle";
		c.textAlign = "right";	// what began before is at the left
		c.lineWidth = 5;
		c.lineJoin = "round";	// else thick lines have spikes
		c.strokeStyle = css("--lane");
		c.fillStyle = css("--quiet");
		for (let row = 0; row < m.rows; row += m.step) {
			const text = m.says(row).replace(/ (to|after) .*/, "");
			const y = Math.max((m.rows - row - 0.5) * m.high, 6);

			c.strokeText(text, strip.width - 3, y);
			c.fillText(text, strip.width - 3, y);
		}
	},

	// Returns [column, row] of the cell at a px.
	cell(x, y)
	{
		const m = this.map, within = (v, n) =>
			Math.max(0, Math.min(Math.floor(v), n - 1));

		return [within(x / m.wide, m.columns),
			m.rows - 1 - within(y / m.high, m.rows)];
	},

	// Returns { time, took } of the cells between two: of lengths those of a
	// box, of samples all that come one after the other.
	range(a, b)
	{
		const m = this.map, less = (x, y) => x - y;

		if (m.lengths) {
			const [x, x1] = [a[0], b[0]].sort(less);
			const all = !view.span && !x && x1 === m.columns - 1;

			return { time: all ? null : [m.binsOf(x)[0],
						     m.binsOf(x1)[1]],
				 took: [a[1], b[1]].sort(less).map(m.real) };
		}

		const [p, q] = [a, b].sort((x, y) => x[0] - y[0] || x[1] - y[1]);

		return { time: [m.binsOf(...p)[0], m.binsOf(...q)[1]],
			 took: null };
	},

	has(shown, column, row)
	{
		const [from, to] = this.map.binsOf(column, row);

		return (!shown.time || (to >= shown.time[0] &&
					from <= shown.time[1])) &&
			(!shown.took || (this.map.real(row) >= shown.took[0] &&
					 this.map.real(row) <= shown.took[1]));
	},

	at([column, row])
	{
		const m = this.map, at = column * m.rows + row;
		const [from, to] = m.binsOf(column, row);
		const n = m.unknown[at];

		return [since(nsOf(from)) + " to " + since(lastOf(to)) + " s, " +
			m.says(row), things(m.n[at]) + (n ? ", " + grouped(n) +
			" of which may have taken more or less" : "")];
	}
};

const lengthWords = ([a, b]) => b < 0 ? "not known" :
	inTime(a > 0 ? 2 ** a : 0) + " to " + inTime(2 ** (b + 1)) +
	(a < 0 ? " or not known" : "");
const showHeat = () => model.bins && go({ heat: !view.heat });
function onHeat()
{
	const at = e => heat.cell(e.offsetX, e.offsetY);

	onRange($("heat"), {
		at: at, nameOf: () => null, says: e => heat.at(at(e)),
		over: rectUnder,
		shown: (a, b) => {
			heat.drag = a && [a, b];
			heat.draw(view);
		},
		chosen: (a, b) => go(heat.range(a, b))
	});
}

function showLongest()
{
	const box = $("longest"), found = [];

	box.hidden = !hasLengths(view.event);
	if (box.hidden)
		return;
	eachItem(view, (t, i) => {
		if ((!view.time || (t.time[i] > view.time[0] &&
				    t.time[i] <= view.time[1] + 1)) &&
		    !isOut(view, t.weight[i], t.word[i]))
			found.push(2 * i + (t === model.unknown ? 1 : 0));
	});

	const tables = tablesOf(view.event), table = element("table");
	const head = table.insertRow();
	const by = k => tables[k % 2].weight[Math.floor(k / 2)];
	const unknown = found.filter(k => k % 2).length;
	const says = [grouped(found.length) + " in the chosen time and lengths",
		unknown ? "of " + grouped(unknown) +
		" it is not known how long they took" : "",
		model.intervals.premise && isLatency(view.event) ?
		"the others are proved " + model.intervals.premise : "",
		found.length > LONGEST ? "the longest " + LONGEST + ":" : ""];

	["Took", "Since", "Name", "Thread", "CPU"].forEach(s =>
		head.append(element("th", s)));
	firstOf(found, LONGEST, by, (a, b) => by(b) - by(a) || a - b).forEach(k =>
		addLongest(table, tables[k % 2], Math.floor(k / 2)));
	box.replaceChildren(element("p", says.filter(s => s).join("; "), "quiet"),
			    table);
}

function addLongest(table, t, i)
{
	const tr = table.insertRow();
	const thread = model.group.thread[t.group[i]], ns = t.weight[i];
	const word = t.word[i], verdict = word % 16, bin = t.time[i] - 1;
	// proved, consistent, began before, unfinished; ambiguous
	const bound = { 0: "", 1: "at most ", 2: "at least ", 3: "at least ",
			8: "at most " }[verdict];

	tr.append(element("td", bound === undefined || (verdict && !ns) ? "not known" :
			  bound + inTime(ns), "n"));
	tr.insertCell().append(element("button", since(nsOf(bin)) + " s", "link", {
		title: "its time and thread only",
		onclick: () => go({ threads: new Set([thread]), time: [bin, Math.min(
			bin + Math.ceil(ns / model.binNs), model.bins - 1)] })
	}));
	[model.intervals.names[word >> 4] || "", threadName(thread), t.cpu[i] ?
	 String(t.cpu[i] - 1) : ""].forEach(s => tr.append(element("td", s)));
}
