"""The world of the synthetic graphs: a few hundred well-known places, one a line, each below the place it lies in.

A line is `code name`; two spaces more than the line above it mean that the place lies inside that one.
"""

from __future__ import annotations

from graphpriv.places import WORLD, Path, Step

#: What the codes at the head of a line stand for.
TYPES = {
    "K": "continent",
    "C": "country",
    "1": "administrative_area_level_1",
    "2": "administrative_area_level_2",
    "3": "administrative_area_level_3",
    "l": "locality",
    "a": "colloquial_area",
    "n": "neighborhood",
    "s": "sublocality",
    "p": "point_of_interest",
    "f": "natural_feature",
    "r": "route",
}

PLACES = """
K Europe
  C Spain
    1 Catalonia
      2 Province of Barcelona
        3 Barcelonès
          l Barcelona
            n Gràcia
            n El Raval
            n Sarrià
            s Eixample
            p Park Güell
            r Avinguda Diagonal
          l Badalona
        3 Vallès Occidental
          l Sabadell
          l Terrassa
          l Bellaterra
        a Costa del Maresme
      2 Province of Girona
        l Girona
        l Figueres
        a Costa Brava
      2 Province of Tarragona
        l Tarragona
        l Reus
    1 Community of Madrid
      l Madrid
        n Malasaña
        n Chueca
        s Chamberí
        p Parque del Retiro
        r Gran Vía
      l Alcalá de Henares
    1 Andalusia
      2 Province of Seville
        l Sevilla
          n Triana
      2 Province of Granada
        l Granada
          n Albaicín
        f Sierra Nevada
    1 Valencian Community
      l Valencia
        n Ruzafa
    1 Basque Country
      l Bilbao
      l San Sebastián
  C United Kingdom
    1 England
      2 Greater London
        l London
          n Camden Town
          n Shoreditch
          n Notting Hill
          s Brixton
          p Hyde Park
          r Abbey Road
      2 Greater Manchester
        l Manchester
          n Northern Quarter
        l Salford
      2 Cambridgeshire
        l Cambridge
      2 Merseyside
        l Liverpool
      f Lake District
      a West Country
    1 Scotland
      l Edinburgh
        n Leith
      l Glasgow
      f Loch Ness
    1 Wales
      l Cardiff
  C France
    1 Île-de-France
      l Paris
        n Montmartre
        n Belleville
        s Le Marais
        p Jardin du Luxembourg
        r Rue de Rivoli
      l Versailles
    1 Provence-Alpes-Côte d'Azur
      2 Bouches-du-Rhône
        l Marseille
      2 Alpes-Maritimes
        l Nice
      a French Riviera
    1 Auvergne-Rhône-Alpes
      l Lyon
      f Mont Blanc
  C Germany
    1 Berlin
      l Berlin
        n Kreuzberg
        n Prenzlauer Berg
        s Mitte
        p Tiergarten
    1 Bavaria
      2 Upper Bavaria
        l Munich
          n Schwabing
    1 Hamburg
      l Hamburg
        n St. Pauli
  C Italy
    1 Lazio
      l Rome
        n Trastevere
    1 Lombardy
      2 Province of Milan
        l Milan
          n Navigli
      f Lake Como
  C Netherlands
    1 North Holland
      l Amsterdam
        n De Pijp
        n Jordaan
    1 South Holland
      l Rotterdam
      l The Hague
  C Ireland
    1 Leinster
      l Dublin
        n Temple Bar
  C Portugal
    1 Lisbon District
      l Lisbon
        n Alfama
  C Sweden
    1 Stockholm County
      l Stockholm
        n Södermalm
  C Poland
    1 Masovia
      l Warsaw
  C Greece
    1 Attica
      l Athens
K North America
  C United States
    1 New York
      l New York City
        s Manhattan
          n Harlem
          n SoHo
          p Central Park
          r Broadway
        s Brooklyn
          n Williamsburg
          n Park Slope
        s Queens
      l Buffalo
      a Upstate New York
    1 District of Columbia
      l Washington DC
        n Georgetown
        n Dupont Circle
        p National Mall
    1 California
      2 Los Angeles County
        l Los Angeles
          n Hollywood
          n Venice
          n Silver Lake
        l Santa Monica
        l Pasadena
      2 San Francisco County
        l San Francisco
          n Mission District
          n Castro
          p Golden Gate Park
      2 Santa Clara County
        l San Jose
        l Palo Alto
        a Silicon Valley
      2 San Diego County
        l San Diego
      f Yosemite Valley
      a Bay Area
    1 Texas
      2 Travis County
        l Austin
          n Hyde Park
      2 Harris County
        l Houston
      2 Dallas County
        l Dallas
    1 Illinois
      2 Cook County
        l Chicago
          n Wicker Park
          n Lincoln Park
        l Evanston
      a Chicagoland
    1 Massachusetts
      2 Suffolk County
        l Boston
          n Back Bay
      2 Middlesex County
        l Cambridge
    1 Washington
      2 King County
        l Seattle
          n Capitol Hill
          n Ballard
      f Mount Rainier
    1 Georgia
      l Atlanta
        n Midtown
    1 Florida
      2 Miami-Dade County
        l Miami
          n Little Havana
      l Orlando
    1 Pennsylvania
      l Philadelphia
      l Pittsburgh
    1 Oregon
      l Portland
    1 Colorado
      l Denver
      f Rocky Mountains
  C Canada
    1 Ontario
      l Toronto
        n Kensington Market
      l Ottawa
    1 Quebec
      l Montreal
        n Mile End
    1 British Columbia
      l Vancouver
        n Gastown
  C Mexico
    1 Mexico City
      l Mexico City
        n Coyoacán
        n Condesa
    1 Jalisco
      l Guadalajara
K South America
  C Brazil
    1 State of São Paulo
      l São Paulo
        n Vila Madalena
      l Campinas
    1 State of Rio de Janeiro
      l Rio de Janeiro
        n Copacabana
        n Ipanema
      l Niterói
  C Argentina
    1 Buenos Aires Province
      l Buenos Aires
        n Palermo
        n San Telmo
    1 Córdoba Province
      l Córdoba
  C Chile
    1 Santiago Metropolitan Region
      l Santiago
        n Providencia
  C Colombia
    1 Bogotá
      l Bogotá
    1 Antioquia
      l Medellín
        n El Poblado
K Asia
  C Japan
    1 Tokyo
      l Tokyo
        s Shibuya
        s Shinjuku
        p Ueno Park
    1 Osaka Prefecture
      l Osaka
    1 Kyoto Prefecture
      l Kyoto
  C India
    1 Maharashtra
      l Mumbai
        n Bandra
      l Pune
    1 Karnataka
      l Bengaluru
        n Indiranagar
    1 Delhi
      l New Delhi
  C Indonesia
    1 Jakarta
      l Jakarta
    1 West Java
      l Bandung
  C Philippines
    1 Metro Manila
      l Manila
      l Quezon City
  C Turkey
    1 Istanbul Province
      l Istanbul
        n Galata
  C Singapore
    l Singapore
  C South Korea
    1 Seoul
      l Seoul
        n Gangnam
K Africa
  C South Africa
    1 Gauteng
      l Johannesburg
    1 Western Cape
      l Cape Town
      f Table Mountain
  C Nigeria
    1 Lagos State
      l Lagos
        n Ikeja
  C Kenya
    1 Nairobi County
      l Nairobi
  C Egypt
    1 Cairo Governorate
      l Cairo
K Oceania
  C Australia
    1 New South Wales
      l Sydney
        n Bondi
        n Newtown
    1 Victoria
      l Melbourne
        n Fitzroy
  C New Zealand
    1 Auckland Region
      l Auckland
"""


def paths() -> list[Path]:
    """All places, each as its path to `world`, in the order of the list."""
    found: list[Path] = []
    above: list[Step] = []
    for line in PLACES.strip().splitlines():
        code, name = line.split(maxsplit=1)
        depth = (len(line) - len(line.lstrip())) // 2
        above[depth:] = [(name, TYPES[code])]
        found.append((*reversed(above), WORLD))
    return found
