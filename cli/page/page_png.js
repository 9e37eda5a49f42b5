// page_png.js - what is shown as a PNG file: what the page is of, the choices,
// time, and the whole graphs, not just the part that is scrolled to.
const PNG_HIGH = 12000;		// px: more than browsers draw in one canvas
const PNG_MARGIN = 12;

// Draws a graph, whole, into a canvas of its own.
function wholeGraph(g)
{
	const canvas = element("canvas");
	const height = Math.min(g.height, PNG_HIGH);

	Object.assign(Object.create(g), {
		canvas: canvas, hover: -1, focus: -1,
		frame: { clientHeight: height,
			 scrollTop: g.icicle ? 0 : g.height - height }
	}).draw();
	return canvas;
}

// Breaks text into lines of a width.
function linesOf(c, text, width)
{
	const lines = [""];

	text.split(/\s+/).forEach(word => {
		const longer = (lines[lines.length - 1] + " " + word).trim();

		if (c.measureText(longer).width > width &&
		    lines[lines.length - 1])
			lines.push(word);
		else
			lines[lines.length - 1] = longer;
	});
	return lines;
}

// What is drawn, from top to bottom: { text, font } or { canvas }.
function partsOfView()
{
	const small = "12px system-ui, sans-serif";
	const chips = Array.from($("chips").children, b =>
		b.textContent.replace(/ \u00d7$/, "")).join("; ");
	const trust = document.querySelector("#banner .trust");
	const text = (s, font) => s ? [{ text: s, font: font || small }] : [];
	const one = view.func !== null;

	return text(document.title, "600 16px system-ui, sans-serif")
		.concat(text(trust ? trust.textContent : ""),
			text(chips ? "chosen: " + chips : ""),
			model.bins ? [{ canvas: $("time") }] : [],
			text(one ? "callers of " + $("func").textContent + ", " +
			     $("func_says").textContent : ""),
			{ canvas: wholeGraph(one ? callers : flame) },
			one ? text("callees") : [],
			one ? { canvas: wholeGraph(callees) } : [],
			diff ? text("what changed; " +
				    $("diff_says").textContent) : [],
			diff ? { canvas: wholeGraph(diffFlame) } : [],
			text($("details").textContent));
}

function pngOf(parts)
{
	const ratio = devicePixelRatio || 1;
	const widest = parts.reduce((w, p) => p.canvas ?
		Math.max(w, p.canvas.width) : w, 300 * ratio);
	const canvas = element("canvas"), c = canvas.getContext("2d");
	let high = PNG_MARGIN * 2;

	parts.forEach(p => {
		c.font = p.font || c.font;
		p.lines = p.text ? linesOf(c, p.text, widest / ratio) : [];
		p.high = p.canvas ? p.canvas.height / ratio + 6 :
			p.lines.length * 19;
		high += p.high;
	});
	canvas.width = widest + 2 * PNG_MARGIN * ratio;
	canvas.height = Math.ceil(high * ratio);
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	fill(c, "--ground", 0, 0, canvas.width, canvas.height);
	parts.reduce((y, p) => {
		c.font = p.font || c.font;
		c.fillStyle = css("--ink");
		p.lines.forEach((s, i) =>
			c.fillText(s, PNG_MARGIN, y + 14 + 19 * i));
		if (p.canvas)
			c.drawImage(p.canvas, PNG_MARGIN, y,
				    p.canvas.width / ratio,
				    p.canvas.height / ratio);
		return y + p.high;
	}, PNG_MARGIN);
	return canvas;
}

// Offers the picture as a file of the browser's downloads.
function savePng()
{
	pngOf(partsOfView()).toBlob(blob => {
		const a = element("a", undefined, "", {
			href: URL.createObjectURL(blob),
			download: document.title.replace(/\.[^.]*$/, "") + ".png"
		});

		a.click();
		$("details").textContent = "saved: " + a.download;
		setTimeout(() => URL.revokeObjectURL(a.href), 10000);
	}, "image/png");
}

const copyLink = () => copy(location.href);

// Buttons in front of that of the keys.
[["png", "PNG", "this view as a picture (p)", savePng],
 ["link", "Link", "copy the address of this view (l)", copyLink]]
	.forEach(([id, text, title, fn]) => {
	$("keys").before(element("button", text, "",
				 { id: id, title: title, onclick: fn }));
});
Object.assign(onKey, { "p": savePng, "l": copyLink });
