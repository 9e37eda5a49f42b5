// duck.mjs - runs SQL statements in DuckDB over the Parquet files of a folder.
// usage: node duck.mjs NODE_MODULES FOLDER [times] <statements
// Standard input is a JSON array of statements; each answer is a JSON array of
// rows on a line of its own, with numbers as text and bytes in hexadecimal. With
// "times" an answer is seconds by the clock and of the processors instead.
import { createRequire } from 'node:module';
import { readFileSync, readdirSync } from 'node:fs';

const [modules, folder, times] = process.argv.slice(2);
const require = createRequire(modules + '/x.js');
const duckdb = require('@duckdb/node-api');

function plain(v) {
	if (v === null || v === undefined)
		return null;
	if (v instanceof duckdb.DuckDBBlobValue)
		return Buffer.from(v.bytes).toString('hex');
	if (v instanceof duckdb.DuckDBListValue)
		return v.items.map(plain);
	return String(v);
}

const db = await duckdb.DuckDBInstance.create(':memory:');
const con = await db.connect();
for (const f of readdirSync(folder, { withFileTypes: true })) {
	const name = f.name.replace(/\.parquet$/, '');
	const what = f.isDirectory()
		? `'${folder}/${f.name}/*/*/*.parquet', hive_partitioning = true`
		: `'${folder}/${f.name}'`;
	await con.run(`CREATE VIEW "${name}" AS SELECT * FROM read_parquet(${what})`);
}
for (const sql of JSON.parse(readFileSync(0, 'utf8'))) {
	const start = performance.now(), before = process.cpuUsage();
	const r = await con.runAndReadAll(sql);
	const { user, system } = process.cpuUsage(before);
	console.log(JSON.stringify(times
		? [(performance.now() - start) / 1e3, (user + system) / 1e6]
		: r.getRows().map(row => row.map(plain))));
}
