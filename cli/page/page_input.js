// page_input.js - the keys and the pointer; starts the page.
function toggleCard()
{
	const card = $("card");

	card.hidden = !card.hidden;
	$("keys").ariaExpanded = String(!card.hidden);
}

function focusOn(at)
{
	current.focus = at;
	current.reach(at);
	current.draw();
	$(current.details || "details").textContent =
		tellOf(current, at).join(" \u2014 ");
}

const towerAt = (g, at) => (g.boxOf(at) || {}).tower || 1;
const tellOf = (g, at) => (g.facts ? g.facts(at) : factsOf(g, at)).concat(
	towerAt(g, at) > 1 ? "the outermost of " + towerAt(g, at) +
	" fabricated frames, which a click opens" : []);
const zoomOf = g => g.zoom ? g.zoom() :
	g === flame && view.lane === null ? view.zoom : 0;

function walk(key)
{
	const g = current, at = g.focus;
	const out = g.icicle ? "ArrowDown" : "ArrowUp";
	let to = at < 0 ? zoomOf(g) : -1;

	if (at >= 0 && (key === "ArrowLeft" || key === "ArrowRight")) {
		const row = g.rows[g.rowOf(at)] || [];
		const i = row.findIndex(b => b.at === at);
		const b = row[i + (key === "ArrowLeft" ? -1 : 1)];

		to = b ? b.at : -1;
	} else if (at >= 0) {
		to = key === out ? widestChild(g.tree, i => g.sel.weight[i],
			at + towerAt(g, at) - 1, i => g.boxOf(i)) :
			g.tree.parent[at];
		// within a tower that is one box
		while (to > 0 && !g.boxOf(to))
			to = g.tree.parent[to];
	}
	if (to >= 0)
		focusOn(to);
}

// Moves to the next box that matches, in the order of rows.
function step(by)
{
	const list = current.rows.flat().filter(b => hits &&
		hits[current.tree.label[b.at]]).map(b => b.at);

	if (list.length)
		focusOn(list[ring(list.indexOf(current.focus), by,
				  list.length)]);
}

const subject = () => current.hover >= 0 ? current.hover :
	current.focus >= 0 ? current.focus : zoomOf(current);

// Shows callers and callees of a function; threads and the root are none.
function sandwichOf(at)
{
	if (!"gm".includes(current.label(at).kind[0]))
		sandwich(current.tree.label[at]);
}

// Copies text by a field that is there for a moment: local files have no other
// way in every browser.
function copy(text)
{
	const field = element("textarea", text);
	const at = current.focus;

	document.body.append(field);
	field.select();
	document.execCommand("copy");
	field.remove();
	current.canvas.focus({ preventScroll: true });
	current.focus = at;
	current.draw();
	$("details").textContent = "copied: " + text.split("\n", 1)[0];
}

const copyName = () => copy(current.label(subject()).full);

// Copies the frames from the chosen one to the root, a line each.
function copyStack()
{
	const t = current.tree, names = [];

	for (let i = subject(); i >= 0; i = t.parent[i])
		names.push(current.label(i).full);
	copy(names.join("\n"));
}

function openSearch()
{
	$("search").focus();
	$("search").select();
}

function toggleCase()
{
	ignoreCase = !ignoreCase;
	pressed();
	look(pattern);
}

function escape()
{
	if (!$("menu").hidden)
		closeMenu();
	else if (!$("card").hidden)
		toggleCard();
	else if (pattern)
		look("");
	else
		undo();
}

function menuOfFocused()
{
	const at = subject(), b = current.boxOf(at);
	const r = current.frame.getBoundingClientRect();

	if (b)
		openMenu(at, r.x + b.x, r.y + current.top(current.rowOf(at)) -
			 current.frame.scrollTop + ROW);
}

Object.assign(onKey, {
	"v": reverse, "x": collapse, "t": showTracks, "h": showHeat, "T": inOrder, "+": closer, "-": farther, "r": redo,
	"s": () => sandwichOf(subject()), "c": copyName, "C": copyStack,
	"m": menuOfFocused
});

// Zooms to a frame; of callers and callees, it becomes the one in the middle.
function enter(at)
{
	if (current.go)
		current.go(at);
	else if (current === flame && view.lane !== null)
		zoomTime(at);
	else if (current === flame)
		go({ zoom: at });
	else
		sandwichOf(at);
}

const zoomFocused = () => enter(subject());

function key(e)
{
	const typing = e.target.matches &&
		e.target.matches("input:not([type=checkbox]), select");

	if (typing && e.key === "Escape") {
		if (e.target === $("search"))
			look("");
		current.canvas.focus();
	} else if (!typing || isFind(e)) {
		pressKey(e, e.target.id === "lanes" ? [trackKey, onKey] :
			 e.target.tagName === "CANVAS" ? [onFrameKey, onKey] :
			 [onKey], $("search"));
	}
}

// Shows lines below the px `over`, [top, bottom] of what they describe, or above
// where there is no room.
function tip(lines, x, over)
{
	const box = $("tip");

	box.hidden = !lines;
	if (!lines)
		return;
	box.textContent = "";
	lines.forEach((s, i) => box.append(element("div", s, i ? "" : "name")));
	box.style.left = Math.max(4, Math.min(x + 14, innerWidth -
		box.offsetWidth - 8)) + "px";

	const below = over[1] + 6, above = over[0] - box.offsetHeight - 6;

	box.style.top = (below + box.offsetHeight <= innerHeight ||
		above < 0 ? below : above) + "px";
}

// Returns the px of the row under the pointer, of a canvas within an element
// that scrolls.
function rowUnder(e, box, high)
{
	const top = e.clientY - (e.offsetY + box.scrollTop) % high;

	return [top, top + high];
}

function rectUnder(e)
{
	const r = e.target.getBoundingClientRect();

	return [r.top, r.bottom];
}

function closeMenu()
{
	$("menu").hidden = true;
}

function openMenu(at, x, y)
{
	const menu = $("menu");
	const add = (text, fn) => {
		const li = element("li");

		li.append(element("button", text, "", {
			role: "menuitem",
			onclick: () => {
				closeMenu();
				fn();
			}
		}));
		menu.append(li);
	};

	menu.textContent = "";
	current.focus = at;
	current.hover = -1;
	if (current === flame || current.go)
		add("Zoom", () => enter(at));
	add("Callers and callees", () => sandwichOf(at));
	if (code)
		add("Source and assembly", () => listingOf(at));
	add("Only stacks through it", () => filter(at, true));
	add("Without the stacks through it", () => filter(at, false));
	add("Find it everywhere", () => lookExactly(current.label(at).name));
	add("Copy its name", copyName);
	add("Copy its stack", copyStack);
	menu.hidden = false;
	menu.style.left = Math.min(x, innerWidth - menu.offsetWidth - 8) + "px";
	menu.style.top = Math.min(y, innerHeight - menu.offsetHeight - 8) +
		"px";
	menu.querySelector("button").focus();
}

function onFlame(g)
{
	const canvas = g.canvas;
	const under = e => g.find(e.offsetX, e.offsetY);

	canvas.addEventListener("mousemove", e => {
		const at = under(e);

		current = g;
		if (at !== g.hover) {
			g.hover = at;
			g.draw();
		}
		canvas.style.cursor = at < 0 ? "default" : "pointer";
		tip(at < 0 ? null : tellOf(g, at), e.clientX,
		    rowUnder(e, g.frame, ROW));
	});
	canvas.addEventListener("mouseleave", () => {
		g.hover = -1;
		g.draw();
		tip(null);
	});
	canvas.addEventListener("click", e => {
		const at = under(e);

		tip(null);
		if (at < 0)
			return;
		current = g;
		if (e.shiftKey || e.altKey)
			filter(at, e.shiftKey);
		else
			enter(at);
	});
	canvas.addEventListener("contextmenu", e => {
		const at = under(e);

		if (at < 0)
			return;
		e.preventDefault();
		tip(null);
		current = g;
		openMenu(at, e.clientX, e.clientY);
	});
	canvas.addEventListener("focus", () => { current = g; });
	canvas.addEventListener("blur", () => {
		if ($("menu").hidden)
			g.focus = -1;
		g.draw();
	});
	g.frame.addEventListener("scroll", () => {
		g.draw();
		drawMap();
	});
}

function onMap()
{
	const canvas = $("map");
	const under = e => map.find(e.offsetX, e.offsetY, flame);

	canvas.addEventListener("click", e => go({ zoom: under(e) }));
	canvas.addEventListener("mousemove", e =>
		tip(factsOf(flame, under(e)), e.clientX, rectUnder(e)));
	canvas.addEventListener("mouseleave", () => tip(null));
}

// Lets a drag over the canvas choose, unless it begins on a name: at(e) is a
// place, shown(from, to) draws what would be chosen, null at the end, and
// chosen(from, to, e) takes it. says(e) gives the lines of the tip, over(e) the px
// of what it describes.
function onRange(canvas, { at, shown, chosen, says, over, nameOf })
{
	let from = null, to = null;

	canvas.addEventListener("pointerdown", e => {
		if (e.button || nameOf(e))
			return;
		from = to = at(e);
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", e => {
		if (from !== null)
			shown(from, to = at(e));
		tip(says(e), e.clientX, over(e));
	});
	canvas.addEventListener("pointerleave", () => tip(null));
	canvas.addEventListener("pointerup", e => {
		const first = from;

		if (first === null)
			return;
		from = null;
		shown(null);
		chosen(first, to, e);
	});
}

// What a range of the strip is for onRange(). Times begin at the px left(); a drag
// that is none is a click(x, y).
const timeRange = (left, click) => ({
	at: e => strip.bin(e.offsetX - left()),
	shown: (a, b) => {
		strip.drag = a === null ? null : [Math.min(a, b), Math.max(a, b)];
		strip.draw(view);
	},
	chosen: (a, b, e) => {
		if (Math.abs(strip.x(b) - strip.x(a)) > 3)
			choose(a, b);
		else
			click(e.offsetX - left(), e.offsetY);
	}
});

function onTime()
{
	onRange($("time"), Object.assign(timeRange(() => 0, () =>
		go({ time: null })), {
		nameOf: () => null, over: rectUnder,
		says: e => strip.at(e.offsetX, e.offsetY)
	}));
	["from", "to"].forEach(id => $(id).addEventListener("change", () =>
		choose(binOf($("from").value), binOf($("to").value))));
	$("all").addEventListener("click", () =>
		go({ time: null, span: null }));
	$("closer").addEventListener("click", closer);
	$("farther").addEventListener("click", farther);
}

function legend()
{
	const add = (where, background, text) => {
		const i = element("i");

		i.style.background = background;
		i.className = background === "var(--seam)" ? "seam" : "";
		$(where).append(i, text + " ");
	};
	const hatched = k => "repeating-linear-gradient(45deg, var(--" + k +
		"-line) 0 2px, var(--" + k + "-ground) 2px 5px)";
	const has = (list, lo, hi) => list.some(b => b[2] >= lo && b[2] <= hi);
	const kinds = new Set(model.labels.map(l => l.kind[0]));

	if (has(model.bands, 0, 2))
		add("legend", "var(--lost)", "records lost");
	if (has(model.bands, 3, 5))
		add("legend", "var(--other)", "throttled, filtered");
	if (has(model.bands, 6, 8))
		add("legend", "var(--gap)", "missing cookies");
	if (has(model.marks, 1, 7))
		add("legend", "var(--missing)", "no user stack");
	if (model.wait.n) {
		add("legend", "var(--other)", "asleep");
		add("legend", "var(--ready)", "ready to run");
	}
	if (model.unknown.n)
		add("legend", hatched("m"), "length not known");
	if (model.waits.wakes)
		add("legend", "var(--accent)", "woken");
	[["u", "user"], ["k", "kernel"], ["i", "inlined"], ["j", "JIT"],
	 ["n", "no name"], ["w", "off the CPU"]].forEach(([k, text]) => kinds.has(k) &&
		add("kinds", colorOfKind(k + "3"), text));
	if (kinds.has("m"))
		add("kinds", hatched("m"), "stack or caller missing");
	if (kinds.has("e"))
		add("kinds", hatched("e"), "stack taken after exec");
	if (kinds.has("b"))
		add("kinds", hatched("b"), "fabricated: no call returns there");
	if (model.labels.some(l => l.kernel) && kinds.has("u"))
		add("kinds", "var(--seam)", "where the kernel begins");
}

function listen()
{
	const click = {
		undo: undo, redo: redo,
		reset: reset, flip: flip, reverse: reverse, keys: toggleCard,
		case: toggleCase, found_threads: chooseFound,
		alone: collapse, whole: () => go({ func: null }), rows: showTracks,
		warm: showHeat
	};

	Object.entries(click).forEach(([id, fn]) =>
		$(id).addEventListener("click", () => fn()));
	$("search").addEventListener("input",
		later(120, () => look($("search").value)));
	$("search").addEventListener("keydown", e => {
		if (e.key === "Enter") {
			look($("search").value);
			step(e.shiftKey ? -1 : 1);
		}
	});
	$("which").addEventListener("input", showFacets);
	$("event").addEventListener("change", () =>
		go({ event: +$("event").value, frames: [], zoom: 0, took: null,
		     heat: view.heat || isLatency(+$("event").value),
		     span: ownSpan(+$("event").value) }));
	$("lane").addEventListener("change", () =>
		go({ lane: $("lane").value === "" ? null : +$("lane").value,
		     func: null, zoom: 0 }));
	document.addEventListener("keydown", key);
	document.addEventListener("pointerdown", e => {
		if (!e.target.closest("#menu"))
			closeMenu();
	});
	addEventListener("resize", show);
	darkScreen.addEventListener("change", show);
	[flame, callers, callees].concat(diffFlame || []).forEach(onFlame);
	onTime();
	onTracks();
	onHeat();
	onMap();
}

function begin()
{
	model.events.forEach((e, i) => {
		if (!e[2])
			return;
		$("event").append(element("option", e[0] + " (" + grouped(e[2]) + ")",
					  "", { value: i }));
	});
	keys.forEach(k => $("card").append(element("dt", k[0]),
					   element("dd", k[1])));
	$("when").hidden = !model.bins;
	$("bin").textContent = "in steps of " + inWords(model.bin) +
		"; 0 is the first sample, at " + seconds(model.origin) + " s";
	$("app").hidden = false;
	legend();
	sortable();
	listen();
	$("lane").hidden = !model.bins;
	restore();
	show();
	restoring = false;
}
performance.mark("data");
begin();
performance.measure("reading", "begin", "data");
performance.measure("drawing", "data");
