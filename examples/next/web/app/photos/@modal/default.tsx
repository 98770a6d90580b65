export default function NoModal(): null {
  return null
}
