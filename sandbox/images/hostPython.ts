import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** A Python of this host, complete enough to be put into an image. All paths are absolute. */
export interface HostPython {
  readonly version: string
  /** The interpreter itself, behind shims, links and virtual environments. */
  readonly executable: string
  readonly prefix: string
  readonly stdlib: string
  readonly platstdlib: string
  /** Where pip can be taken from: its package's folder, or the wheel that comes with Python. */
  readonly pip: { readonly kind: 'folder' | 'wheel'; readonly path: string; readonly version: string }
}

/** The oldest Python that packages may count on. */
const oldestPython = '3.11'

const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11']

const probe = `
import glob, importlib.util, json, os, sys, sysconfig
def pip():
    spec = importlib.util.find_spec("pip")
    if spec and spec.submodule_search_locations:
        folder = list(spec.submodule_search_locations)[0]
        for info in glob.glob(os.path.join(os.path.dirname(folder), "pip-*.dist-info")):
            return {"kind": "folder", "path": folder, "version": os.path.basename(info)[4:-10]}
    folders = [os.path.join(sysconfig.get_path("stdlib"), "ensurepip", "_bundled"), "/usr/share/python-wheels"]
    for folder in folders:
        for wheel in glob.glob(os.path.join(folder, "pip-*.whl")):
            return {"kind": "wheel", "path": wheel, "version": os.path.basename(wheel).split("-")[1]}
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])),
    "executable": os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
    "prefix": sys.base_prefix,
    "stdlib": sysconfig.get_path("stdlib", vars=base),
    "platstdlib": sysconfig.get_path("platstdlib", vars=base),
    "implementation": sys.implementation.name,
    "pip": pip(),
}))`

/** Reads what the probe printed; undefined for a Python that is too old, is not CPython, or has no pip to take. */
export function parsePythonProbe(output: string): HostPython | undefined {
  const found = JSON.parse(output) as HostPython & { implementation: string; pip: HostPython['pip'] | null }
  if (found.implementation !== 'cpython' || !found.pip || !isRecentPython(found.version)) return undefined
  const { version, executable, prefix, stdlib, platstdlib, pip } = found
  return { version, executable, prefix, stdlib, platstdlib, pip }
}

/** Whether `version` (`3.12.1`) is one that packages may count on. */
export function isRecentPython(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [wantedMajor = 0, wantedMinor = 0] = oldestPython.split('.').map(Number)
  return major === wantedMajor && minor >= wantedMinor
}

/** The first Python on the PATH that packages may count on. Asked from `/`, so that no version file of the current folder has a say. */
export async function findHostPython(env: Readonly<Record<string, string | undefined>>): Promise<HostPython | undefined> {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (!(await isExecutable(path))) continue
      const output = await ask(path, env)
      const python = output === undefined ? undefined : parsePythonProbe(output)
      if (python) return python
    }
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** What the interpreter at `path` prints, or undefined when it does not work (a shim of a version that is not installed). */
function ask(path: string, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const { PATH, HOME } = env
  return new Promise((resolve) => {
    execFile(path, ['-I', '-c', probe], { cwd: '/', env: { PATH, HOME, LC_ALL: 'C.UTF-8' }, timeout: 20_000 }, (error, stdout) => {
      resolve(error ? undefined : stdout)
    })
  })
}
