// speedscope.js - reads a file as www.speedscope.app does, and says what it saw.
// usage: node tests/cli/speedscope.js NPM_FOLDER FILE
//
// First against the format's published schema, when the file says that it has
// one, then through the importer of speedscope's own page. The package has no
// entry for programs: its page is one script, which ends by drawing itself;
// here it ends by giving out its import function. What it finds is printed as
// JSON, for each profile its name, unit, total weight, and the weight of each
// stack, its frames joined by newlines.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [npm, file] = process.argv.slice(2);
const release = path.join(npm, "node_modules/speedscope/dist/release");
const bytes = fs.readFileSync(file);

function checkSchema() {
	const data = JSON.parse(bytes);
	if (!data.$schema)
		return;
	const Ajv = require(path.resolve(npm, "node_modules/ajv"));
	const schema = JSON.parse(
		fs.readFileSync(path.join(release, "file-format-schema.json")));
	const validate = new Ajv({ strict: false }).compile(schema);
	if (!validate(data))
		throw new Error(JSON.stringify(validate.errors.slice(0, 3)));
}

// A thing of which everything can be asked, and nothing comes.
function nothing() {
	return new Proxy(function () {}, {
		get: (t, key) => key === Symbol.toPrimitive ? () => "" : nothing(),
		set: () => true,
		apply: () => nothing(),
		construct: () => nothing(),
	});
}

function importer() {
	const name = fs.readdirSync(release)
		.find(f => /^speedscope-.*\.js$/.test(f));
	const page = fs.readFileSync(path.join(release, name), "utf8");
	const found = page.match(
		/async function (\S+?)\(\w+,\w+\)\{return\(await [\w$]+\)\.importProfilesFromArrayBuffer/);
	const end = page.lastIndexOf("console.log(`speedscope v");
	if (!found || end < 0)
		throw new Error("not the page this test knows: " + name);
	const context = {
		console: { log() {}, time() {}, timeEnd() {}, warn() {}, error() {} },
		document: nothing(), localStorage: nothing(), navigator: nothing(),
		performance, setTimeout, clearTimeout, TextDecoder, TextEncoder,
		ArrayBuffer, Uint8Array, URL, Blob, WebAssembly, fetch: nothing(),
		matchMedia: nothing(), addEventListener() {},
		requestAnimationFrame() {}, location: { hash: "", href: "file:///" },
		alert(text) { throw new Error(text); },
	};
	context.window = context.self = context;
	vm.runInNewContext(
		page.slice(0, end) + "window.imported=" + found[1] + "})();", context);
	return context.imported;
}

function profile(p) {
	const stacks = {};
	p.forEachCallGrouped || p.forEachCall;
	const path = [];
	let last = 0;
	const spend = value => {
		if (value > last) {
			const key = path.join("\n");
			stacks[key] = (stacks[key] || 0) + value - last;
		}
		last = value;
	};
	p.forEachCall((node, value) => { spend(value); path.push(node.frame.name); },
		(node, value) => { spend(value); path.pop(); });
	return { name: p.getName(), unit: p.getWeightUnit(),
		weight: p.getTotalWeight(), stacks };
}

async function main() {
	checkSchema();
	const buffer = bytes.buffer.slice(bytes.byteOffset,
		bytes.byteOffset + bytes.length);
	const group = await importer()(path.basename(file), buffer);
	if (!group)
		throw new Error("speedscope does not know what this is");
	console.log(JSON.stringify({ name: group.name, view: group.indexToView,
		profiles: group.profiles.map(profile) }));
}

main().catch(e => { console.error(e); process.exit(1); });
