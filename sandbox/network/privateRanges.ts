/** What `network: true` never reaches unless the operator allows it. Documentation ranges are not in it: they route like any other. */
export const privateRanges: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // 169.254.169.254 is the metadata service of most clouds.
  '169.254.0.0/16',
  // Azure answers its machines, and them alone, at this public address.
  '168.63.129.16/32',
  '172.16.0.0/12',
  // Oracle's metadata service is at 192.0.0.192.
  '192.0.0.0/24',
  '192.168.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
