// hypar.mjs - prints the rows of Parquet files as hyparquet reads them.
// usage: node hypar.mjs NODE_MODULES FILE...
// Each file is a line: a JSON array of rows, with numbers as text and bytes in
// hexadecimal.
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';

const [modules, ...files] = process.argv.slice(2);
const load = name => import(pathToFileURL(`${modules}/${name}`));
const { parquetReadObjects } = await load('hyparquet/src/node.js');
const { compressors } = await load('hyparquet-compressors/src/index.js');

function plain(v) {
	if (v instanceof Uint8Array)
		return Buffer.from(v).toString('hex');
	if (Array.isArray(v))
		return v.map(plain);
	return v === null || v === undefined ? null : String(v);
}

for (const path of files) {
	const bytes = readFileSync(path);
	const file = bytes.buffer.slice(bytes.byteOffset,
		bytes.byteOffset + bytes.byteLength);
	const rows = await parquetReadObjects({ file, compressors });
	console.log(JSON.stringify(rows.map(r => Object.values(r).map(plain))));
}
