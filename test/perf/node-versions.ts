// The versions of Node that subjects run with, and their JavaScript for one that cannot strip types.

import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const own = process.versions.node.split('.', 1)[0]!
const binary = (version: string): string =>
  fileURLToPath(new URL(`../node-versions/node_modules/node-${version}/bin/node`, import.meta.url))

/** Programs by major version. Keys in ascending order. */
export const nodes: Readonly<Record<string, string>> = {
  20: binary('20'),
  22: binary('22'),
  26: binary('26'),
  [own]: process.execPath,
}

/** Place of the JavaScript of a server. */
export function builtFile(file: URL): URL {
  const path = fileURLToPath(file)
  return new URL(`dist/${basename(path, '.ts')}.js`, new URL(`file://${dirname(path)}/`))
}

/** Node 20 cannot strip types, so it runs JavaScript. The packages do not change, unless they have no JavaScript. */
export async function build(file: URL): Promise<void> {
  const bundle = await rolldown({
    input: fileURLToPath(file),
    platform: 'node',
    external: /^(?!@examples\/)[^./]/,
  })
  await bundle.write({ file: fileURLToPath(builtFile(file)) })
  await bundle.close()
}
