// The service as a DID of the method web (W3C did:web): its document has the keys that verify its signatures.

/** `did:web` of a service, by its URL; the port is escaped. A path becomes segments. */
export function didOf(url: string): string {
  const { host, pathname } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  return ['did:web', encodeURIComponent(host), ...segments].join(':');
}

interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/** The DID document (W3C DID Core, JSON representation). */
export function didDocument(url: string, keys: readonly PublicKey[]) {
  const id = didOf(url);
  const methods = keys.map(({ kty, crv, x, kid }) => ({
    id: `${id}#${kid}`,
    type: 'JsonWebKey2020',
    controller: id,
    publicKeyJwk: { kty, crv, x },
  }));
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  };
}
