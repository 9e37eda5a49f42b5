// page_sides.js - both recordings of a comparison one above the other: what the
// time of the program went to, and how long pairs of events took. page_sides.h
// describes the data.
const SIDE_ROW = 18, SIDE_BAR = 14, SIDE_LEFT = 112, LENGTHS = 110;	// px
const sides = $("sides") && JSON.parse($("sides").textContent);
const sideColors = ["--side-a", "--side-b"];
const stateColors = { "computing": "--run", "ready": "--ready",
		      "ready behind other programs": "--behind",
		      "in a timer": "--timer", "waiting for a disk": "--disk" };
const stateColor = state => stateColors[state] || "--waits";
const sideTop = side => 18 + side * (sides.lanes.length * SIDE_ROW + 20);
const roundTime = ns => inTime(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

// Returns [key, value] of the pairs of numbers behind the first n of a list.
const pairsOf = (list, n) => Array.from({ length: (list.length - n) / 2 },
	(_, i) => [list[n + 2 * i], list[n + 2 * i + 1]]);

function sideText(c, text, x, y, color, font)
{
	c.font = font || "11px system-ui, sans-serif";
	c.textBaseline = "top";
	c.fillStyle = css(color);
	c.fillText(text, x, y);
	return c.measureText(text).width;
}

function drawTimes(canvas)
{
	const width = canvas.parentNode.clientWidth, used = {};
	const high = sideTop(2) - 2, all = Math.max(...sides.took);
	const c = prepare(canvas, width, high);
	const x = ns => SIDE_LEFT + ns / all * (width - SIDE_LEFT);
	const step = Number(niceStep(BigInt(all), Math.max(width / 120, 2) | 0));
	// several threads may have had time at once
	const reach = (at, part) => used[at] = (used[at] || 0) + part;

	sides.bars.forEach(([side, lane, , , ...cells]) => pairsOf(cells, 0)
		.forEach(([k, part]) => reach([side, lane, k], part)));
	const most = Math.max(1000, ...Object.values(used));

	for (let t = 0; t < all; t += step) {
		fill(c, "--grid", x(t), 0, 1, high - 16);
		if (x(t) + 60 < width)
			sideText(c, roundTime(t), x(t) + 3, high - 14, "--quiet");
	}
	sides.took.forEach((took, side) => {
		sideText(c, "AB"[side] + ": " + inTime(took), 0, sideTop(side) - 16,
			 "--ink", "bold 12px system-ui, sans-serif");
		sides.lanes.forEach((name, i) => {
			const y = sideTop(side) + i * SIDE_ROW;

			sideText(c, clip(name, SIDE_LEFT / 7 | 0), 0, y + 1, "--ink",
				 fontOf(11));
			fill(c, "--lane", SIDE_LEFT, y, x(took) - SIDE_LEFT, SIDE_BAR);
		});
	});
	Object.keys(used).forEach(at => used[at] = 0);
	sides.bars.forEach(([side, lane, state, proved, ...cells]) => {
		const y = sideTop(side) + lane * SIDE_ROW + SIDE_BAR;

		c.globalAlpha = proved ? 1 : 0.45;
		pairsOf(cells, 0).forEach(([k, part]) => {
			const h = part / most * SIDE_BAR;

			fill(c, stateColor(sides.states[state]), x(k * sides.column),
			     y - reach([side, lane, k], h),
			     Math.max(x(sides.column) - SIDE_LEFT, 0.5), h);
		});
	});
	c.globalAlpha = 1;
}

// Shows what a lane of a side had at a place.
function tellTimes(e)
{
	const ns = Math.max(...sides.took) * (e.offsetX - SIDE_LEFT) /
		(e.target.clientWidth - SIDE_LEFT);
	const here = e.offsetY < sideTop(1) - 16 ? 0 : 1;
	const row = Math.floor((e.offsetY - sideTop(here)) / SIDE_ROW);
	const top = e.clientY - e.offsetY + sideTop(here) + row * SIDE_ROW;
	const k = Math.floor(ns / sides.column);

	tip(ns < 0 || ns > sides.took[here] || !(row in sides.lanes) ? null :
		["AB"[here] + ", " + sides.lanes[row] + ": " + inTime(Math.round(ns))]
		.concat(sides.bars.flatMap(([side, lane, state, proved, ...cells]) =>
			side === here && lane === row ? pairsOf(cells, 0).filter(
				x => x[0] === k).map(x => sides.states[state] +
				(proved ? " " : ", likely, ") + percent(x[1], 1000)) :
			[])), e.clientX, [top, top + SIDE_ROW]);
}

function makeKey(items)
{
	const p = element("p", undefined, "quiet key");

	items.forEach(([color, text]) => {
		const i = element("i"), span = element("span");

		i.style.background = "var(" + color + ")";
		span.append(i, text);
		p.append(span);
	});
	return p;
}

// Makes a canvas that draw() draws, in an element before the others.
function makePicture(draw, label, ...others)
{
	const box = element("div"), canvas = element("canvas", undefined, "side", {
		role: "img", ariaLabel: label, draw: draw });

	box.append(canvas, ...others);
	return [box, canvas];
}

// Returns the elements of what the time of the program went to.
function makeSides()
{
	if (!sides.says)
		return [];

	const [box, canvas] = makePicture(drawTimes, sides.says);
	const others = sides.states.filter(s => !stateColors[s]).join(", ");

	canvas.id = "side_times";
	canvas.addEventListener("pointermove", tellTimes);
	canvas.addEventListener("pointerleave", () => tip(null));
	return [element("h3", "Where the time went, from the start of each"), box,
		makeKey(sides.states.filter(s => stateColors[s]).map(s =>
			[stateColor(s), s]).concat(others ? [["--waits", others]] : [])),
		element("p", "a lane at full height is all of the time; pale: " +
			"likely, not proved", "quiet")];
}

const sayLength = ns => ns === null ? "not known" : inTime(ns);

const sayLengths = ([n, unproved, p50, p99, longest]) => grouped(n) +
	(unproved ? ", " + grouped(unproved) + " of them not proved" : "") +
	"; p50 " + sayLength(p50) + ", p99 " + sayLength(p99) + ", longest " +
	sayLength(longest);

// Returns elements of the kinds of which both sides have some that are proved.
function makeLengths()
{
	const both = sides.kinds.filter(k => k[1].length > 5 && k[2].length > 5);
	const all = element("div", undefined, "halves");

	both.forEach(kind => {
		const [box, canvas] = makePicture(c => drawLengths(c, kind), kind[0],
			makeKey([0, 1].map(i => [sideColors[i], "AB"[i] + ": " +
						 sayLengths(kind[i + 1])])));

		canvas.classList.add("lengths");
		box.prepend(element("h3", kind[0]));
		all.append(box);
	});
	return both.length ? [element("h3", "How long pairs of events took"),
		element("p", "the proved ones of each side by length, in eighths of a " +
			"power of two, as shares; solid lines: p50, dashed: p99", "quiet"),
		all] : [];
}

function drawLengths(canvas, kind)
{
	const width = canvas.parentNode.clientWidth;
	const c = prepare(canvas, width, LENGTHS + 16);
	const counts = kind.slice(1).map(side => new Map(pairsOf(side, 5).map(
		([step, n]) => [step, n / (side[0] - side[1])])));
	const steps = counts.flatMap(all => [...all.keys()]);
	const low = Math.min(...steps) - 1, top = Math.max(...steps) + 2;
	const most = Math.max(...counts.flatMap(all => [...all.values()]));
	const x = step => (step - low) / (top - low) * width;
	const xOf = ns => x(Math.log2(Math.max(ns, 1)) * 8);

	fill(c, "--lane", 0, 0, width, LENGTHS);
	for (let ns = 1, right = 0; xOf(ns) < width - 40; ns *= 10) {
		if (xOf(ns) < right)
			continue;
		fill(c, "--grid", xOf(ns), 0, 1, LENGTHS + 4);
		right = xOf(ns) + 12 + sideText(c, roundTime(ns), xOf(ns) + 3,
						LENGTHS + 3, "--quiet");
	}
	counts.forEach((all, side) => {
		c.beginPath();
		c.moveTo(0, LENGTHS);
		for (let step = low; step < top; step++) {
			const y = LENGTHS - (all.get(step) || 0) / most * (LENGTHS - 6);

			c.lineTo(x(step), y);
			c.lineTo(x(step + 1), y);
		}
		c.strokeStyle = c.fillStyle = css(sideColors[side]);
		c.globalAlpha = 0.18;
		c.fill();
		c.globalAlpha = 1;
		c.stroke();
		[2, 3].filter(i => kind[side + 1][i] !== null).forEach(i => {
			c.beginPath();
			c.setLineDash(i === 3 ? [4, 3] : []);
			c.moveTo(xOf(kind[side + 1][i]), 0);
			c.lineTo(xOf(kind[side + 1][i]), LENGTHS);
			c.stroke();
		});
		c.setLineDash([]);
	});
}

const drawSides = () => document.querySelectorAll("canvas.side").forEach(c =>
	c.draw(c));
