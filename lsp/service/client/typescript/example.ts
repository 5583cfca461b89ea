// node example.ts FOLDER QUESTION: where in a folder the answer to a question is.

import { resolve } from 'node:path';
import { connect, findSocket } from './client.ts';

const [folder = '.', ...question] = process.argv.slice(2);
const quarry = await connect({
  socket: await findSocket(),
  client: 'my tool',
  roots: [resolve(folder)],
  onProgress: (p) => console.error(`${p.title}: ${p.message}`),
});
try {
  const query = question.join(' ') || 'where are retries counted';
  const answer = await quarry.search({ query, k: 5, current: true }, { signal: AbortSignal.timeout(10_000) });
  for (const r of answer.results ?? []) {
    console.log(`${r.path}:${r.start_line} ${r.symbol}`);
  }
} finally {
  await quarry.close();
}
