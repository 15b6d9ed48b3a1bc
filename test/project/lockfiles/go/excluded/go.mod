module example.org/excluded

go 1.19

exclude example.com/text v0.3.0

retract v0.0.1 // broken

require example.com/log v1.2.0

require example.com/text v0.4.1 // indirect
