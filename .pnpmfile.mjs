// Names the repository in each packed package.json, which npm wants for provenance. Workflows set GITHUB_REPOSITORY.
// By hand: `GITHUB_REPOSITORY=<owner>/<name> npx -y pnpm@12 run release`.

import { basename } from 'node:path'

/** @type {(manifest: object, folder: string) => object} */
function beforePacking(manifest, folder) {
  const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: repository } = process.env
  if (!repository) return manifest
  const directory = `packages/${basename(folder)}`
  return {
    ...manifest,
    homepage: `${server}/${repository}/tree/main/${directory}#readme`,
    bugs: `${server}/${repository}/issues`,
    repository: { type: 'git', url: `git+${server}/${repository}.git`, directory },
  }
}

export const hooks = { beforePacking }
