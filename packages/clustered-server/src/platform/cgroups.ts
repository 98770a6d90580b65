import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Resources that control groups limit. */
type Controller = 'cpu' | 'memory'

/** A line of `/proc/self/mountinfo`: the mount point of a part of a control group hierarchy. */
interface Mount {
  readonly version: 1 | 2
  /** Version 1 has one hierarchy per controller; other mount options do no harm. */
  readonly controllers: readonly string[]
  /** The group mounted at `point`. */
  readonly top: string
  readonly point: string
}

/**
 * Reads files, joined by spaces, in the control group of this process and in each visible parent group. A container sees
 * its own group and those inside. Groups without these files are skipped.
 *
 * @param root directory of `/proc` and `/sys`
 */
export function readCgroups(root: string, controller: Controller, version: 1 | 2, ...files: string[]): string[] {
  return directories(controller, version, root).flatMap((directory) => {
    const texts = files.map((file) => textOf(join(root, directory, file))?.trim())
    return texts.includes(undefined) ? [] : texts.join(' ')
  })
}

/** Reads a file; returns `undefined` if that fails. */
export function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function directories(controller: Controller, version: 1 | 2, root: string): string[] {
  const group = groupOf(controller, version, textOf(join(root, 'proc/self/cgroup')) ?? '')
  if (group === undefined) return []
  const mounts = mountsIn(textOf(join(root, 'proc/self/mountinfo')) ?? '').filter(
    (mount) => mount.version === version && (version === 2 || mount.controllers.includes(controller)),
  )
  const seen = new Set<string>()
  for (const { top, point } of mounts.filter((mount) => isWithin(group, mount.top))) {
    seen.add(point)
    let directory = point
    for (const name of group.slice(top.length).split('/').filter(Boolean)) {
      directory = join(directory, name)
      seen.add(directory)
    }
  }
  // The group is outside of the mount, as in nested containers: the mount is the nearest group.
  if (seen.size === 0 && mounts[0]) seen.add(mounts[0].point)
  return [...seen]
}

/** Finds the path of this process's group in lines such as `4:cpu,cpuacct:/a/b`, or `0::/a/b` of version 2. */
function groupOf(controller: Controller, version: 1 | 2, cgroup: string): string | undefined {
  for (const line of cgroup.split('\n')) {
    const [, id, controllers, path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? []
    if (version === 2 ? id === '0' && controllers === '' : controllers?.split(',').includes(controller)) return path
  }
  return undefined
}

/** Whether a group equals `top` or is inside it. Groups outside of a namespace have a path with `..`. */
function isWithin(group: string, top: string): boolean {
  if (`${group}/`.includes('/../') || `${top}/`.includes('/../')) return false
  return top === '/' || group === top || group.startsWith(`${top}/`)
}

/** Parses lines such as `31 23 0:28 /top /point rw,relatime shared:5 - cgroup cgroup rw,cpu`. */
function mountsIn(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ', 2)
    const [, , , top, point] = before.split(' ')
    const [type, , options = ''] = after.split(' ')
    if (!top || !point || (type !== 'cgroup' && type !== 'cgroup2')) return []
    return {
      version: type === 'cgroup' ? 1 : 2,
      controllers: options.split(','),
      top: unescaped(top),
      point: unescaped(point),
    }
  })
}

/** Resolves escapes such as `\040` for a space. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
