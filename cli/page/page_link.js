// page_link.js - the address of a view, in words that can be read and changed:
// #view=callers&func=spin&from=0.5s&to=1.25s&threads=wl:104&search=read
//
// A row of linkWords is { word, put, take }: put(view) gives the values of the
// word, [] where the view is that of a fresh page; take(next, text) changes a
// view, and throws what a link of another page may hold. A name that several
// frames have is followed by ~2, ~3, ... Times are seconds since the first
// sample.

// Names keep what an address may hold, but not what separates them.
const escapeName = s => encodeURIComponent(s).replace(/%(3A|2F|5B|5D|40|24)/g,
	decodeURIComponent);
const nameList = (names, by) => names.length ?
	[names.map(escapeName).join(by)] : [];
const inParts = (text, by) => text.split(by).map(decodeURIComponent);
const inSeconds = ns => since(ns).replace(/\.?0+$/, "") + "s";
const wrongLink = () => {
	throw new RangeError();
};

let sameName = null;	// labels by name
function labelsOf(name)
{
	if (!sameName) {
		sameName = new Map();
		model.labels.forEach((l, i) => sameName.has(l.full) ?
			sameName.get(l.full).push(i) :
			sameName.set(l.full, [i]));
	}
	return sameName.get(name) || [];
}

function wordOfLabel(id)
{
	const at = labelsOf(model.labels[id].full).indexOf(id);

	return model.labels[id].full + (at > 0 ? "~" + (at + 1) : "");
}

function labelOfWord(word)
{
	const same = labelsOf(word);
	const m = /^(.*)~(\d+)$/.exec(word);
	const id = same.length || !m ? same[0] : labelsOf(m[1])[m[2] - 1];

	return id === undefined ? wrongLink() : id;
}

function wordsOfPlace(t, at)
{
	const words = [];

	for (let i = at; i > 0; i = t.parent[i])
		words.unshift(wordOfLabel(t.label[i]));
	return nameList(words, ";");
}

function placeOfWords(t, text)
{
	let at = 0;

	inParts(text, ";").map(labelOfWord).forEach(l => {
		let i = at + 1;

		while (i < t.end[at] && t.label[i] !== l)
			i = t.end[i];
		at = i < t.end[at] ? i : wrongLink();
	});
	return at;
}

const threadWord = i => model.threads[i][0] + ":" + model.threads[i][1];
const cpuWord = c => c ? String(c - 1) : "none";
const flag = (word, name) => ({
	word: word, put: v => v[name] ? [""] : [],
	take: next => {
		next[name] = true;
	}
});
// The word of what is shown or hidden, unless it is as usual(view).
const shownWord = (word, usual) => ({
	word: word,
	put: v => v[word] === usual(v) ? [] : [v[word] ? "shown" : "hidden"],
	take: (next, text) => {
		next[word] = text === "shown";
	}
});
// The word of a set of those of n that are chosen, by their words.
const setWord = (word, n, wordOf) => ({
	word: word,
	put: v => nameList(Array.from(v[word] || [], wordOf), ","),
	take: (next, text) => {
		const words = new Set(inParts(text, ","));
		const found = Array.from({ length: n }, (x, i) => i)
			.filter(i => words.has(wordOf(i)));

		next[word] = found.length ? new Set(found) : wrongLink();
	}
});
const diffWord = (word, name, put, take) => ({
	word: word, put: v => diff ? put(v.diff) : [],
	take: (next, text) => {
		next.diff = Object.assign({}, next.diff, { [name]: take(text) });
	}
});
const timeWord = (word, name, i) => ({
	word: word,
	put: v => {
		const usual = name === "span" ? ownSpan(v.event) : null;
		const now = v[name] || [model.first, Math.max(model.bins, 1) - 1];

		return JSON.stringify(v[name]) === JSON.stringify(usual) ? [] :
			[inSeconds(i ? lastOf(now[1]) : nsOf(now[0]))];
	},
	take: (next, text) => {
		const bin = binOf(text.replace(/s$/, ""));

		if (Number.isNaN(bin))
			wrongLink();
		next[name] = next[name] ? next[name].slice() :
			[model.first, Math.max(model.bins, 1) - 1];
		next[name][i] = bin;
	}
});

const linkWords = [
	{ word: "view", put: v => v.func !== null ? ["callers"] :
		v.lane !== null ? ["time"] : [],
	  take: () => {} },
	{ word: "of",
	  put: v => v.lane === null ? [] : [v.lane < 0 ?
		"cpu:" + cpuWord(-1 - v.lane) :
		escapeName(threadWord(v.lane))],
	  take: (next, text) => {
		const word = decodeURIComponent(text);
		const i = model.threads.findIndex((t, n) =>
			threadWord(n) === word);
		const cpu = Array.from({ length: model.cpus }, (x, c) => c)
			.find(c => "cpu:" + cpuWord(c) === word);

		next.lane = i >= 0 ? i : cpu === undefined ? wrongLink() :
			-1 - cpu;
	  } },
	{ word: "wait", put: v => v.wait === null ? [] : [v.wait],
	  take: (next, text) => {
		next.wait = /^\d+$/.test(text) && +text < model.wait.n ? +text :
			wrongLink();
	  } },
	shownWord("tracks", () => start.tracks),
	{ word: "event",
	  put: v => v.event === start.event ? [] :
		[escapeName(model.events[v.event][0])],
	  take: (next, text) => {
		const at = model.events.findIndex(e =>
			e[0] === decodeURIComponent(text));

		next.event = at < 0 ? wrongLink() : at;
		next.span = ownSpan(next.event);
		next.heat = isLatency(next.event);
	  } },
	shownWord("heat", v => isLatency(v.event)),
	// rows of the heat map: 14..16 is from 2^14 ns to 2^17 ns
	{ word: "took", put: v => v.took ? [v.took.join("..")] : [],
	  take: (next, text) => {
		next.took = /^-?\d+\.\.-?\d+$/.test(text) ?
			text.split("..").map(Number) : wrongLink();
	  } },
	flag("reverse", "reverse"),
	flag("collapse", "alone"),
	{ word: "func",
	  put: v => v.func === null ? [] :
		[escapeName(wordOfLabel(v.func))],
	  take: (next, text) => {
		next.func = labelOfWord(decodeURIComponent(text));
	  } },
	{ word: "zoom",
	  put: v => v.zoom ? wordsOfPlace(model.node, v.zoom) : [],
	  take: (next, text) => {
		useTree(next.reverse && next.func === null, next.alone);
		next.zoom = placeOfWords(model.node, text);
	  } },
	timeWord("from", "time", 0), timeWord("to", "time", 1),
	timeWord("strip-from", "span", 0), timeWord("strip-to", "span", 1),
	setWord("threads", model.threads.length, threadWord),
	setWord("cpus", model.cpus, cpuWord),
	setWord("verdicts", model.verdicts.length, verdictName),
	diffWord("changes", "by", d => d.by === "total" ? ["total"] : [],
		 () => "total"),
	diffWord("widths", "side", d => d.side ? [] : ["A"], () => 0),
	diffWord("changes-zoom", "zoom",
		 d => d.zoom ? wordsOfPlace(diff.tree, d.zoom) : [],
		 text => diff ? placeOfWords(diff.tree, text) : 0)
].concat([["only", true], ["without", false]].map(([word, keep]) => ({
	word: word,
	put: v => v.frames.filter(f => f.keep === keep).map(f =>
		escapeName(wordOfLabel(f.label))),
	take: (next, text) => {
		if (next.frames.length < 30)
			next.frames = next.frames.concat({
				label: labelOfWord(decodeURIComponent(text)),
				keep: keep });
	}
})));

function linkOf(v)
{
	const out = [];
	const add = (word, values) => values.forEach(text =>
		out.push(word + (text === "" ? "" : "=" + text)));

	linkWords.forEach(w => add(w.word, w.put(v)));
	if (pattern)
		add("search", [escapeName(pattern)]);
	if (ignoreCase)
		add("ignore-case", [""]);
	if (flame.icicle)
		add("icicle", [""]);
	return out.length ? "#" + (out[0].startsWith("view=") ? "" :
		"view=flame&") + out.join("&") : "";
}

function remember()
{
	if (!restoring)
		setAddress(linkOf(view));
}

// Words of the address, in the order of linkWords: a place is found in the tree
// that the words before it choose.
function viewOfLink(link)
{
	const next = Object.assign({}, start);
	const words = link.split("&").map(part => {
		const at = part.indexOf("=");

		return at < 0 ? [part, ""] : [part.slice(0, at),
					      part.slice(at + 1)];
	});

	linkWords.forEach(w => words.filter(([word]) => word === w.word)
		.forEach(([, text]) => {
		try {
			w.take(next, text);
		} catch (e) {
			// a link of another page: its other words may fit
		}
	}));

	const search = words.find(([word]) => word === "search");

	try {
		pattern = search ? decodeURIComponent(search[1]) : "";
	} catch (e) {
		pattern = "";
	}
	ignoreCase = words.some(([word]) => word === "ignore-case");
	flame.icicle = words.some(([word]) => word === "icicle");
	if (next.time && next.time[0] > next.time[1])
		next.time.reverse();
	return next;
}

function restore()
{
	const next = viewOfLink(location.hash.slice(1));

	$("search").value = pattern;
	if (JSON.stringify(keyOf(next)) !== JSON.stringify(keyOf(view)))
		past.push(view);
	view = next;
}

// An address that is written or pasted while the page is open.
addEventListener("hashchange", () => {
	restore();
	show();
});
