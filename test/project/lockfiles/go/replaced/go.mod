module example.org/replaced

go 1.19

replace example.com/old => example.com/fork v1.0.5

replace example.com/text v0.3.0 => ./text

require (
	example.com/check v0.0.0-20220101000000-0123456789ab
	example.com/log v1.2.0
)

require (
	example.com/old v1.0.0 // indirect
	example.com/text v0.3.0 // indirect
)
