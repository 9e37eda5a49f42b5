// page_count.js - the tables of verdicts, losses and findings within the chosen
// time.
//
// The tables come as text; page_data.h says what the block "times" has. A row
// is found by its key: the cells that name it. Tables that have no times say so.

// The cells that make a key, and those that are counted (count), added up (sum)
// or say the share of all that is counted there.
const counted = {
	requests: { key: [0, 1], count: 2, share: 3 },
	chains: { key: [0, 1], count: 2, share: 3 },
	losses: { key: [0, 1, 2, 5], count: 4, sum: 3 },
	findings: { key: [0], count: 2, sum: 3 }
};

function loadTimes()
{
	const n = model.times ? model.times[0] : 0;
	const r = n ? reader("times") : null;
	const t = {
		n: n, key: new Uint32Array(n), from: new Uint32Array(n),
		to: new Uint32Array(n), number: new Float64Array(n)
	};
	let from = 0;

	for (let i = 0; i < n; i++) {
		const k = r.next();

		t.key[i] = k >> 2;
		from += r.signed();
		// not known is as long as it can be
		t.from[i] = from;
		t.to[i] = k & 1 ? r.next() || model.bins : from || model.bins;
		t.number[i] = k & 2 ? r.next() : 1;
	}
	return t;
}

// Returns how many items of each key are in the time, and their sums.
function countTimes(time)
{
	const t = model.time = model.time || loadTimes();
	const keys = model.times ? model.times.length - 1 : 0;
	const out = { n: new Float64Array(keys), sum: new Float64Array(keys) };
	const lo = time ? time[0] + 1 : 0, hi = time ? time[1] + 1 : Infinity;

	for (let i = 0; i < t.n; i++) {
		if (t.to[i] < lo || t.from[i] > hi)
			continue;
		out.n[t.key[i]]++;
		out.sum[t.key[i]] += t.number[i];
	}
	return out;
}

let countedTime = null;		// as text, that of which the tables are
function countTables()
{
	const now = JSON.stringify(view.time);

	if (now === JSON.stringify(countedTime))
		return;
	countedTime = view.time;

	const found = countTimes(view.time);
	const place = new Map(model.times.slice(1).map((k, i) => [k, i]));

	document.querySelectorAll("main > section").forEach(s => {
		const name = s.id.slice(2), c = counted[name];

		if (c)
			countTable(s, name, c, found, place);
		else if (name !== "hot")
			sayTime(s, "of the whole capture");
	});
}

// Says what a table is of while a time is chosen.
function sayTime(section, text)
{
	let p = section.querySelector(".when");

	if (!p) {
		p = element("p", "", "when");
		section.querySelector("h2").after(p);
	}
	p.textContent = text;
	p.hidden = !view.time;
}

function countTable(section, name, c, found, place)
{
	const rows = Array.from(section.querySelectorAll("tbody tr"));
	const keyOfRow = tr => name + "|" + c.key.map(i =>
		tr.cells[i].textContent.replace(/,/g, "")).join("|");
	const at = rows.map(tr => place.get(keyOfRow(tr)));
	const all = at.reduce((a, i) => a + (found.n[i] || 0), 0);

	rows.forEach((tr, i) => {
		const n = found.n[at[i]] || 0;
		const cells = Array.from(tr.cells);

		tr.was = tr.was || cells.map(td => td.textContent);
		tr.hidden = Boolean(view.time) && !n;
		if (!view.time) {
			cells.forEach((td, k) => { td.textContent = tr.was[k]; });
			return;
		}
		tr.cells[c.count].textContent = grouped(n);
		// "": the number is not known
		if (c.sum && tr.was[c.sum])
			tr.cells[c.sum].textContent = grouped(found.sum[at[i]] ||
							      0);
		if (c.share)
			tr.cells[c.share].textContent = percent(n, all);
	});
	sayTime(section, all ? "in the chosen time, or at a time that is not " +
		"known" : "nothing in the chosen time");
}
