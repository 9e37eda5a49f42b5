// page_source.js - source lines and instructions of the function in the middle,
// with the samples of what is chosen.
//
// page_data.h describes the blocks of data; a page may have none. Tables are
// made anew for each view: a function has at most some thousand rows.
const code = loadCode();
const runs = f => f.slice(2);

function loadCode()
{
	const block = document.getElementById("code");

	if (!block)
		return null;

	const c = JSON.parse(block.textContent);
	const r = reader("spots");
	let first = 1;

	c.spot = new Uint32Array(model.group.n);
	for (let i = 0; i < c.spot.length; i++)
		c.spot[i] = r.next();
	c.functions = c.functions.map(f => {
		const insn = f[4].map(i => ({
			addr: i[0], text: i[1], line: i[2] || 0,
			file: (i[3] || 0) - 1, to: (i[4] || 0) - 1,
			inlined: i[5] || "", gap: i[6] || 0
		}));

		first += insn.length;
		return { name: f[0], image: f[1], file: f[2], why: f[3],
			 insn: insn, first: first - insn.length, off: f[5],
			 out: f[6] || 0 };
	});
	return c;
}

// Returns the function of a label: itself, or that into which it is inlined;
// undefined if neither is in the page.
function functionOf(label)
{
	const l = model.labels[label];

	if (!code)
		return undefined;
	// static functions of several files may have one name
	return code.functions.find(f => f.name === l.full &&
				   f.image === l.file &&
				   (!l.off || f.off === l.off)) ||
		code.functions.find(f => f.image === l.file &&
				    f.insn.some(i => i.inlined === l.full));
}

// Returns weight and samples of each instruction within the selection, and of
// all of them.
function countInsns(f)
{
	const n = f.insn.length;
	const out = { weight: new Float64Array(n), samples: new Uint32Array(n),
		      all: 0, most: 0 };

	for (let i = 0; i < code.spot.length; i++) {
		const at = code.spot[i] - f.first;

		if (at < 0 || at >= n || sel.left[i])
			continue;
		out.weight[at] += sel.groupWeight[i];
		out.samples[at] += sel.groupSamples[i];
		out.all += sel.groupWeight[i];
	}
	out.most = out.weight.reduce((a, b) => a > b ? a : b, 0);
	return out;
}

function addRow(body, counts, weight, samples, place, text, name)
{
	const tr = body.insertRow();

	tr.className = name;
	tr.tabIndex = -1;
	tr.style.setProperty("--part", counts.most ?
		100 * weight / counts.most + "%" : "0");
	tr.append(element("td", weight ? percent(weight, counts.all) : "", "n"),
		  element("td", samples ? grouped(samples) : "", "n"),
		  element("td", place, "n quiet"), element("td", text, "c"));
	return tr;
}

function addHeading(body, text)
{
	body.insertRow().append(element("td", text, "quiet head",
					{ colSpan: 4 }));
}

const lineKey = (file, line) => file + ":" + line;

function fillAssembly(f, counts)
{
	const body = $("assembly").tBodies[0];

	body.textContent = "";
	f.insn.forEach((i, n) => {
		if (i.gap)
			addHeading(body, "\u22ee " + grouped(i.gap) +
				   " instructions far from any sample");
		const tr = addRow(body, counts, counts.weight[n],
				  counts.samples[n], i.addr.slice(2), i.text,
				  i.to >= 0 ? "jump" : "");

		tr.dataset.line = i.line ? lineKey(i.file, i.line) : "";
		if (i.to >= 0)
			tr.dataset.to = i.to;
		if (i.inlined)
			tr.title = i.inlined + ", inlined";
	});
}

// Returns { weight, samples } of each line by its key, and its most.
function countLines(f, counts)
{
	const out = new Map();

	f.insn.forEach((i, n) => {
		const key = lineKey(i.file, i.line);
		const l = out.get(key) || { weight: 0, samples: 0 };

		l.weight += counts.weight[n];
		l.samples += counts.samples[n];
		if (i.line && i.file >= 0)
			out.set(key, l);
	});
	return out;
}

// Writes a file's lines; where its text is not in the page, path and number of
// those with code.
function fillFile(body, file, lines, counts)
{
	const f = code.files[file];
	const none = { weight: 0, samples: 0 };
	const put = (line, text) => {
		const l = lines.get(lineKey(file, line)) || none;
		const tr = addRow(body, counts, l.weight, l.samples,
				  String(line), text, "");

		tr.dataset.line = lineKey(file, line);
	};

	addHeading(body, f[0] + ": " + f[1]);
	if (runs(f).length) {
		runs(f).forEach((r, n) => {
			if (n)
				addHeading(body, "\u22ee");
			r.slice(1).forEach((text, i) => put(r[0] + i, text));
		});
		return;
	}
	Array.from(lines.keys()).filter(k => k.startsWith(file + ":"))
		.map(k => +k.slice(String(file).length + 1))
		.sort((a, b) => a - b)
		.forEach(line => put(line, f[0] + ":" + line));
}

// Files of the function's own lines first, then those of what is inlined.
function fillSource(f, counts)
{
	const body = $("source").tBodies[0];
	const lines = countLines(f, counts);
	const own = f.insn.filter(i => !i.inlined);
	const files = new Set(own.concat(f.insn).map(i => i.file)
			      .filter(n => n >= 0));
	const most = Array.from(lines.values()).reduce((a, l) =>
		Math.max(a, l.weight), 0);

	body.textContent = "";
	files.forEach(n => fillFile(body, n, lines,
				    { all: counts.all, most: most }));
	if (!files.size)
		addHeading(body, "no line information");
}

function showListing()
{
	const f = view.func === null ? undefined : functionOf(view.func);
	const l = view.func === null ? null : model.labels[view.func];

	$("listing").hidden = !l || !code;
	if (!l || !code)
		return;

	const counts = f && countInsns(f);
	const place = l.source ? "; it is at " + l.source : "";

	sayWords($("listing_says"), !f ?
		"not among the " + code.functions.length + " functions with " +
		"most samples of their own, whose code is in the page" + place :
		f.why ? f.why + place :
		(f.name === l.full ? "" : "inlined into " +
		 shownName(f.name) + "; ") +
		grouped(counts.samples.reduce((a, b) => a + b, 0)) +
		" samples in the code of " + f.file +
		(f.out ? "; " + grouped(f.out) + " of its instructions are " +
		 "left out" : "") +
		"; a line and its instructions show each other");
	$("panes").hidden = !f || !f.insn.length;
	if (!f || !f.insn.length)
		return;
	fillAssembly(f, counts);
	fillSource(f, counts);
	// the hottest line and instruction are in view
	["assembly", "source"].forEach(id => {
		const rows = Array.from($(id).tBodies[0].rows);
		const best = rows.reduce((a, r) =>
			parseFloat(r.style.getPropertyValue("--part")) >
			(a ? parseFloat(a.style.getPropertyValue("--part")) : 0) ?
				r : a, null);
		const pane = $(id).parentNode;

		pane.scrollTop = best ? best.offsetTop - pane.clientHeight / 2 :
			0;
	});
}

// Marks the rows of a line in both tables; the other table shows the first.
function markLine(row)
{
	document.querySelectorAll("#panes tr.on, #panes tr.at").forEach(r =>
		r.classList.remove("on", "at"));
	row.classList.add("at");
	row.focus({ preventScroll: true });
	row.scrollIntoView({ block: "nearest" });
	if (!row.dataset.line)
		return;
	["source", "assembly"].forEach(id => {
		const same = Array.from($(id).tBodies[0].rows).filter(r =>
			r.dataset.line === row.dataset.line);

		same.forEach(r => r.classList.add("on"));
		if (same.length && !same.includes(row)) {
			const pane = $(id).parentNode;

			pane.scrollTop = same[0].offsetTop -
				pane.clientHeight / 3;
		}
	});
}

// The keys of a pane: rows up and down; Enter follows a jump.
function keyOfPane(e)
{
	const rows = Array.from(e.currentTarget.querySelectorAll("tr"))
		.filter(r => r.dataset.line !== undefined);
	const at = rows.findIndex(r => r.classList.contains("at"));
	const to = { ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0,
		     End: rows.length - 1, PageDown: at + 20,
		     PageUp: Math.max(at - 20, 0) }[e.key];
	const row = e.key === "Enter" && at >= 0 ?
		rows[+(rows[at].dataset.to || at)] :
		to === undefined ? null : rows[Math.min(to, rows.length - 1)];

	if (!row)
		return;
	e.preventDefault();
	e.stopPropagation();
	markLine(row);
}

function makeListing()
{
	const section = element("section", undefined, "", { id: "listing" });
	const panes = element("div", undefined, "", { id: "panes" });

	section.append(element("h3", "Source and assembly"),
		       element("p", "", "quiet", { id: "listing_says" }), panes);
	[["source", "source lines"], ["assembly", "instructions"]]
		.forEach(([id, text]) => {
		const table = element("table", undefined, "", { id: id });
		const pane = element("div", undefined, "pane", {
			tabIndex: 0, role: "region", onkeydown: keyOfPane,
			ariaLabel: text + "; arrow keys go from row to row, " +
				"Enter follows a jump",
			onclick: e => {
				const row = e.target.closest("tr");

				if (row && row.dataset.line !== undefined)
					markLine(row);
			}
		});

		table.createTBody();
		pane.append(table);
		panes.append(pane);
	});
	$("sandwich").append(section);
}

// Shows the code of a frame's function.
function listingOf(at)
{
	if ("gm".includes(current.label(at).kind[0]))
		return;
	sandwichOf(at);
	$("listing").scrollIntoView({ block: "start" });
	$("source").parentNode.focus({ preventScroll: true });
}

onKey.a = () => listingOf(subject());
makeListing();
